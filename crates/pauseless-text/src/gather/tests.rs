//! Archives and folders, good and broken.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

/// A member with its header, filled up.
fn member(name: &str, kind: u8, size: u64, bytes: &[u8]) -> Vec<u8> {
    let mut header = [0u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    header[156] = kind;
    header[157..161].copy_from_slice(b"link");
    header[257..263].copy_from_slice(b"ustar\0");
    header[148..156].fill(b' ');
    let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut member = header.to_vec();
    member.extend(bytes);
    member.resize(member.len().next_multiple_of(512), 0);
    member
}

fn file(name: &str, text: &str) -> Vec<u8> {
    member(name, b'0', text.len() as u64, text.as_bytes())
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    let mut archive = members.concat();
    archive.resize(archive.len() + 1024, 0);
    archive
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Keeps files that begin with `want`.
fn wants(source: &Source) -> bool {
    source.text.starts_with("want")
}

fn read(bytes: &[u8]) -> Result<Gathered, String> {
    Gathered::from_bytes("a.tar", bytes, &wants).map_err(|problems| problems.to_string())
}

fn names(gathered: &Gathered) -> Vec<(&str, &str)> {
    gathered.sources.iter().map(|it| (it.file.as_str(), it.text.as_str())).collect()
}

#[test]
fn members_are_read_and_others_named() {
    let long = "d/".repeat(60) + "long";
    let pax = "17 path=pax/name\n";
    let bytes = archive(&[
        member("folder/", b'5', 0, b""),
        file("folder/one", "want 1"),
        file("two.pm", "counters"),
        member("three.pcap", b'0', 4, &[0, 1, 2, 3]),
        member("@LongLink", b'L', long.len() as u64 + 1, format!("{long}\0").as_bytes()),
        file("cut", "want 4"),
        member("p", b'x', pax.len() as u64, pax.as_bytes()),
        file("five", "want 5"),
        member("six.gz", b'0', gzip(b"want 6").len() as u64, &gzip(b"want 6")),
    ]);
    let long = format!("a.tar/{long}");
    let expected = vec![
        ("a.tar/folder/one", "want 1"),
        (long.as_str(), "want 4"),
        ("a.tar/pax/name", "want 5"),
        ("a.tar/six.gz", "want 6"),
    ];
    for packed in [bytes.clone(), gzip(&bytes)] {
        let found = read(&packed).unwrap();
        assert_eq!(names(&found), expected);
        assert_eq!(found.ignored, ["a.tar/two.pm", "a.tar/three.pcap"]);
    }
}

#[test]
fn xz_and_zstd_are_unpacked() {
    for packed in [XZ, ZSTD, &[ZSTD, SKIPPED, ZSTD].concat()] {
        let text = Source::from_bytes("f", packed.to_vec()).unwrap().text;
        assert!(matches!(text.as_str(), "one\n" | "one\none\n"), "{text}");
        let cut = Source::from_bytes("f", packed[..packed.len() - 3].to_vec());
        let cut = cut.unwrap_err().to_string();
        assert!(cut.starts_with("pauseless: f: cannot be unpacked"), "{cut}");
    }
    let bytes = archive(&[member("one.xz", b'0', XZ.len() as u64, XZ), file("two", "want 2")]);
    assert_eq!(read(&bytes).unwrap().ignored, ["a.tar/one.xz"]);
}

#[test]
fn links_and_places_outside_lead_nowhere() {
    let bytes = archive(&[
        member("link", b'2', 0, b""),
        member("hard", b'1', 0, b""),
        member("device", b'3', 0, b""),
        file("../../etc/passwd", "want to be outside"),
        file("/etc/shadow", "want to be outside"),
    ]);
    let found = read(&bytes).unwrap();
    // Names are names: nothing is opened by them, nothing is written.
    let expected = ["a.tar/etc/passwd", "a.tar/etc/shadow"];
    assert_eq!(found.sources.iter().map(|it| it.file.as_str()).collect::<Vec<_>>(), expected);
    assert_eq!(found.ignored, ["a.tar/link", "a.tar/hard", "a.tar/device"]);
}

#[test]
fn broken_archives_are_refused() {
    let good = archive(&[file("one", "want 1"), file("two", "want 2")]);
    let refused = |bytes: &[u8]| read(bytes).unwrap_err();
    let cut = refused(&good[..515]);
    assert!(cut.contains("the archive ends within a member"), "{cut}");
    let mut wrong = good.clone();
    wrong[1024 + 5] ^= 1;
    assert!(refused(&wrong).contains("the header of a member is broken"));
    let sparse = archive(&[member("s", b'S', 0, b"")]);
    assert!(refused(&sparse).contains("sparse members are not read"));
    let header = archive(&[member("x", b'x', 1 << 32, b"")]);
    assert!(refused(&header).contains("the header of a member is too large"));
    let size = archive(&[member("big", b'0', (1 << 33) - 1, b"want")]);
    assert!(refused(&size).contains("the archive ends within a member"), "{}", refused(&size));
    let gz = gzip(b"want it whole, please, but it is cut");
    let bytes = archive(&[member("a.gz", b'0', 20, &gz[..20])]);
    let refused = refused(&bytes);
    assert!(refused.contains("a.tar/a.gz in it cannot be unpacked"), "{refused}");
}

#[test]
fn bombs_are_refused_early() {
    // Zeros, as a member, and as an archive without an end of members.
    let zeros = gzip(&vec![b' '; 96 << 20]);
    let mut whole = member("bomb", b'0', 1 << 32, b"");
    whole.truncate(512);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&whole).unwrap();
    encoder.write_all(&vec![b' '; 96 << 20]).unwrap();
    let bomb = encoder.finish().unwrap();
    let refused = read(&bomb).unwrap_err();
    assert!(refused.contains("unpacks to 500 times its size"), "{refused}");
    let inner = archive(&[member("bomb.gz", b'0', zeros.len() as u64, &zeros)]);
    let refused = read(&inner).unwrap_err();
    assert!(refused.contains("unpacks to 500 times its size"), "{refused}");
    let one = member("m", b'0', 0, b"");
    let endless = gzip(&one.repeat(FILES_MAX + 1));
    let refused = read(&endless).unwrap_err();
    assert!(refused.contains("more than 100000 members"), "{refused}");
}

#[test]
fn folders_are_read_below() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("b"), "want b").unwrap();
    fs::write(at("a.pm"), "counters").unwrap();
    fs::write(at("sub/c"), "want c").unwrap();
    fs::write(at("raw"), [0, 159]).unwrap();
    fs::write(at("z.tgz"), gzip(&archive(&[file("in", "want z")]))).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path(), at("loop")).unwrap();
    let read = |path: PathBuf| Gathered::read(&[path], &wants);
    let found = read(folder.path().to_path_buf()).unwrap();
    let texts = Vec::from_iter(found.sources.iter().map(|it| it.text.as_str()));
    assert_eq!(texts, ["want b", "want c", "want z"]);
    assert!(found.ignored.iter().any(|it| it.ends_with("a.pm")));
    fs::create_dir(at("empty")).unwrap();
    let refused = read(at("empty")).unwrap_err().to_string();
    assert!(refused.contains("there is no file in it"), "{refused}");
    fs::write(at("empty/x"), "counters").unwrap();
    let refused = read(at("empty")).unwrap_err().to_string();
    assert!(refused.contains("nothing in it can be read"), "{refused}");
}

/// `one`, as `xz` packs it.
const XZ: &[u8] = &[
    253, 55, 122, 88, 90, 0, 0, 4, 230, 214, 180, 70, 2, 0, 33, 1, 22, 0, 0, 0, 116, 47, 229, 163,
    1, 0, 3, 111, 110, 101, 10, 0, 245, 92, 187, 86, 31, 198, 253, 134, 0, 1, 28, 4, 111, 44, 156,
    193, 31, 182, 243, 125, 1, 0, 0, 0, 0, 4, 89, 90,
];
/// `one`, as `zstd` packs it.
const ZSTD: &[u8] = &[40, 181, 47, 253, 36, 4, 33, 0, 0, 111, 110, 101, 10, 223, 22, 104, 9];
/// A frame of zstd with three bytes for others.
const SKIPPED: &[u8] = &[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
