use pauseless_core::unit::Span;

use super::*;

/// Worked out by hand from the format.
#[test]
fn a_file_has_its_interfaces_first_and_then_the_frames() {
    let place = tempfile::tempdir().expect("a place for the test");
    let path = place.path().join("test.pcapng");
    let names = ["S1:H1", "S1:S2"].map(String::from);
    let capture = Capture::create(&path, &names, Duration::from_secs(2)).expect("a new file");
    let time = Time::ZERO + Span::ps(1_234_567);
    capture.write(time, 1, Direction::In, &[1, 2, 3, 4, 5], 60);
    assert_eq!(capture.finish().expect("there is room"), 1);
    let bytes = std::fs::read(&path).expect("it was written");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));

    assert_eq!((word(0), word(8)), (0x0a0d_0d0a, 0x1a2b_3c4d));
    let first = word(4) as usize;
    assert_eq!((word(first), word(first + 8) & 0xffff), (1, 1), "Ethernet");
    // Option 2, the name, of five bytes.
    assert_eq!(word(first + 16), 2 | (5 << 16));
    assert_eq!(&bytes[first + 20..first + 25], b"S1:H1");
    // Option 9, the resolution, is nanoseconds.
    assert_eq!((word(first + 28), bytes[first + 32]), (9 | (1 << 16), 9));
    let second = first + word(first + 4) as usize;
    let packet = second + word(second + 4) as usize;
    assert_eq!((word(packet), word(packet + 8)), (6, 1));
    let stamp = (u64::from(word(packet + 12)) << 32) | u64::from(word(packet + 16));
    assert_eq!(stamp, 2_000_001_234);
    assert_eq!((word(packet + 20), word(packet + 24)), (5, 60));
    assert_eq!(&bytes[packet + 28..packet + 36], [1, 2, 3, 4, 5, 0, 0, 0]);
    assert_eq!((word(packet + 36), word(packet + 40)), (2 | (4 << 16), 1));
    let length = word(packet + 4) as usize;
    assert_eq!(packet + length, bytes.len());
    assert_eq!(word(bytes.len() - 4) as usize, length);
}

#[test]
fn a_failure_is_told_at_the_end() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let capture = Capture::create(full, &[], Duration::ZERO).expect("it can be opened");
    let frame = [0; 60];
    for _ in 0..1_000 {
        capture.write(Time::ZERO, 0, Direction::Out, &frame, 60);
    }
    assert!(capture.finish().is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_is_said_once_and_while_the_node_runs() {
    let names = ["S1:H1".to_string()];
    let capture = Capture::create(Path::new("/dev/full"), &names, Duration::ZERO);
    let capture = capture.expect("what is small is kept");
    assert_eq!(capture.trouble(), None);
    for _ in 0..100 {
        capture.write(Time::ZERO, 0, Direction::In, &[0; 1_500], 1_500);
    }
    let trouble = capture.trouble().expect("it is full");
    assert!(trouble.starts_with("cannot write /dev/full: "), "{trouble}");
    assert_eq!(capture.trouble(), None);
    capture.finish().expect_err("it is still full");
}
