//! The program in the kernel that hands every frame to our socket.

use std::ffi::c_long;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::net::{named, socket};

/// A program at an interface. The kernel removes it when this is dropped, and when the process
/// dies.
#[derive(Debug)]
pub struct Redirect {
    _link: OwnedFd,
    map: OwnedFd,
}

/// Where in the kernel the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the driver, before the kernel sees the frame.
    Driver,
    /// Behind the driver, for drivers that cannot run programs.
    Stack,
}

impl Redirect {
    /// Attaches a program to the interface with this number; it lets all frames pass until it has a
    /// socket.
    pub fn attach(index: i32, place: Place) -> io::Result<Redirect> {
        let map = OwnedFd::create(BPF_MAP_CREATE, &MapCreate::sockets())
            .map_err(|error| named(error, "make a map of sockets"))?;
        let program = load(&map).map_err(|error| named(error, "load the program"))?;
        let request = LinkCreate {
            program: program.as_raw_fd() as u32,
            index: index as u32,
            kind: BPF_XDP,
            flags: match place {
                Place::Driver => XDP_FLAGS_DRV_MODE,
                Place::Stack => XDP_FLAGS_SKB_MODE,
            },
        };
        let link = OwnedFd::create(BPF_LINK_CREATE, &request).map_err(|error| {
            let hint = match error.raw_os_error() {
                Some(libc::EBUSY | libc::EEXIST) => " (another program is there)",
                Some(libc::ERANGE) => " (its MTU is too large for it)",
                _ => "",
            };
            named(error, format!("attach the program{hint}"))
        })?;
        Ok(Redirect { _link: link, map })
    }

    /// Sends the frames of the first queue to `socket` from now on.
    pub fn point_to(&self, socket: &OwnedFd) -> io::Result<()> {
        let (key, value) = (0_u32, socket.as_raw_fd());
        let request = MapUpdate {
            map: self.map.as_raw_fd() as u32,
            padding: 0,
            key: &raw const key as u64,
            value: &raw const value as u64,
            flags: 0,
        };
        // SAFETY: key and value are of the sizes that the map was made with, and outlive the call.
        unsafe { bpf(BPF_MAP_UPDATE_ELEM, &request) }.map(drop)
    }
}

trait Create: Sized {
    /// Runs a command whose result is a descriptor, and whose request has no pointers.
    fn create<T>(command: c_long, request: &T) -> io::Result<Self>;
}

impl Create for OwnedFd {
    fn create<T>(command: c_long, request: &T) -> io::Result<OwnedFd> {
        // SAFETY: the request has no pointers, or its maker keeps alive what they point to.
        let descriptor = unsafe { bpf(command, request) }?;
        // SAFETY: the descriptor is new, so nobody else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
    }
}

fn load(map: &OwnedFd) -> io::Result<OwnedFd> {
    let map = map.as_raw_fd();
    let instructions = [
        // r2 = queue of the frame
        Instruction::new(LOAD_WORD, 2, 1, QUEUE_OFFSET, 0),
        // r1 = map, an instruction of double width
        Instruction::new(LOAD_DOUBLE, 1, PSEUDO_MAP, 0, map),
        Instruction::new(0, 0, 0, 0, 0),
        // r3 = what to do with frames of queues without a socket
        Instruction::new(MOVE, 3, 0, 0, XDP_PASS),
        Instruction::new(CALL, 0, 0, 0, REDIRECT_MAP),
        Instruction::new(EXIT, 0, 0, 0, 0),
    ];
    let license = c"Dual MIT/GPL";
    let request = ProgramLoad {
        kind: BPF_PROG_TYPE_XDP,
        count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: license.as_ptr() as u64,
        nothing: [0; 11],
        attach: BPF_XDP,
    };
    OwnedFd::create(BPF_PROG_LOAD, &request)
}

/// # Safety
/// The request must be what the command takes, and its pointers must point to what it says.
unsafe fn bpf<T>(command: c_long, request: &T) -> io::Result<i32> {
    let pointer = &raw const *request;
    // SAFETY: the kernel reads the request, which outlives the call, and the caller has promised the rest.
    let status = unsafe { libc::syscall(libc::SYS_bpf, command, pointer, mem::size_of::<T>()) };
    socket::check(status as i32)
}

#[repr(C)]
struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

impl Instruction {
    /// An instruction that writes register `to` and reads register `from`.
    fn new(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
        Instruction { code, registers: to | from << 4, offset, immediate }
    }
}

#[repr(C)]
struct MapCreate {
    kind: u32,
    key: u32,
    value: u32,
    entries: u32,
    flags: u32,
}

impl MapCreate {
    fn sockets() -> MapCreate {
        MapCreate { kind: BPF_MAP_TYPE_XSKMAP, key: 4, value: 4, entries: 1, flags: 0 }
    }
}

#[repr(C)]
struct MapUpdate {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct ProgramLoad {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    /// The fields for log, version, flags, name and device.
    nothing: [u32; 11],
    attach: u32,
}

#[repr(C)]
struct LinkCreate {
    program: u32,
    index: u32,
    kind: u32,
    flags: u32,
}

// linux/bpf.h, linux/if_link.h
const BPF_MAP_CREATE: c_long = 0;
const BPF_MAP_UPDATE_ELEM: c_long = 2;
const BPF_PROG_LOAD: c_long = 5;
const BPF_LINK_CREATE: c_long = 28;
const BPF_MAP_TYPE_XSKMAP: u32 = 17;
const BPF_PROG_TYPE_XDP: u32 = 6;
const BPF_XDP: u32 = 37;
const XDP_FLAGS_SKB_MODE: u32 = 1 << 1;
const XDP_FLAGS_DRV_MODE: u32 = 1 << 2;
const XDP_PASS: i32 = 2;
const REDIRECT_MAP: i32 = 51;
const PSEUDO_MAP: u8 = 1;
/// The offset of `rx_queue_index` in `xdp_md`.
const QUEUE_OFFSET: i16 = 16;
const LOAD_WORD: u8 = 0x61;
const LOAD_DOUBLE: u8 = 0x18;
const MOVE: u8 = 0xb7;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
