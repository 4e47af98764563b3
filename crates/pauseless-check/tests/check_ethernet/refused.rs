//! Files that contradict each other, or lack what is needed.

use super::*;

fn refused(sources: &[Source], expected: &[&str]) {
    let problems = from_sources(sources, Choices::default());
    let message = match problems {
        Ok(fabric) => panic!("was taken: {:#?}", fabric.notes),
        Err(problems) => problems.to_string(),
    };
    for part in expected {
        assert!(message.contains(part), "no {part:?} in:\n{message}");
    }
}

#[test]
fn files_that_do_not_fit_together_are_refused() {
    let pod = || source("pod.clab.yml", POD);
    refused(
        &[config("T1", "3")],
        &["T1.json: no file says how the fabric is cabled", "DEVICE_NEIGHBOR"],
    );
    refused(
        &[sample("pg_profile_lookup.ACS-MSN2700.ini")],
        &["no file says how the fabric is cabled", "add a containerlab topology"],
    );
    refused(&[source("x.txt", "nothing")], &["x.txt: not an Ethernet file", "config_db.json"]);
    refused(
        &[pod(), config("leaf9", "3")],
        &["leaf9.json:1:48: no cable ends at switch \"leaf9\"", "one of L0, L1, T0, T1 and 6 more"],
    );
    let mut other = config("t1", "4");
    other.file = "other.json".to_string();
    refused(
        &[pod(), config("T1", "3"), other],
        &["other.json:3:", "PORT_QOS_MAP|Ethernet0 of switch \"T1\" is another one in T1.json"],
    );
    let unnamed = "{\"PORT_QOS_MAP\": {\"Ethernet0\": {\"pfc_enable\": \"3\"}}}";
    let unnamed = || source("qos.json", unnamed);
    refused(
        &[pod(), config("T1", "3"), config("T2", "3"), unnamed()],
        &[
            "qos.json: the file has no hostname, and there are 2 switches it could be of",
            "hostname",
        ],
    );
    refused(
        &[pod(), unnamed()],
        &["qos.json: the file has no hostname, and the wiring has 6 switches"],
    );
    let neighbour = "{\"DEVICE_NEIGHBOR\": {\"Ethernet0\": {\"name\": \"a\", \"port\": \"e\"}}}";
    refused(
        &[source("half.json", neighbour)],
        &["half.json: the file has no hostname, so that nobody knows whose cables it lists"],
    );
    let hosts = "topology:\n  defaults: {kind: linux}\n  nodes: {a: , b: , S: {kind: ceos}}\n\
        \x20 links:\n  - endpoints: [S:e1, a:e1]\n  - endpoints: [a:e2, b:e2]";
    refused(
        &[source("lab.yml", hosts)],
        &["lab.yml:6:17: a cable joins two hosts", "expected a switch at one end"],
    );
}

#[test]
fn halves_of_cables_must_agree() {
    let mut sources = pod_files("T1");
    let tor = &mut sources[3].text;
    *tor = tor.replace(
        "{\"name\": \"L1\", \"port\": \"Ethernet0\"}",
        "{\"name\": \"L1\", \"port\": \"Ethernet4\"}",
    );
    refused(
        &sources,
        &[
            "pod/T1.json:",
            "T1 Ethernet4 is cabled to L1 Ethernet4 here and to L1 Ethernet0 in pod/L1.json",
        ],
    );
    let more = "topology:\n  nodes: {L0: , X: }\n  links:\n  - endpoints: [L0:eth1, X:eth1]";
    refused(
        &[source("pod.clab.yml", POD), source("more.yml", more)],
        &["more.yml:4:17: L0 eth1 is cabled to X eth1 here and to T0 eth1 in pod.clab.yml"],
    );
}
