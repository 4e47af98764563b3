//! What the programs of Slurm print.

use std::fmt;
use std::ops::RangeInclusive;

use super::status::Job;

/// Where a job stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It waits, for a reason that Slurm names: `Resources`, `Dependency`, `BeginTime`.
    Pending(String),
    /// It runs on this node.
    Running(String),
    /// It has ended well.
    Completed,
    /// It has ended with an error, or was ended.
    Failed {
        /// How, in Slurm's words: `failed`, `timeout`, `cancelled`.
        how: String,
        /// The exit status of the job.
        exit: String,
    },
    /// Slurm has forgotten it: it is over, and it is not known how.
    #[default]
    Unknown,
}

impl State {
    /// The word for it in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            State::Pending(_) => "pending",
            State::Running(_) => "running",
            State::Completed => "completed",
            State::Failed { .. } => "failed",
            State::Unknown => "unknown",
        }
    }

    /// What Slurm calls a state, with what belongs to it.
    fn parse(word: &str, field: impl Fn(&str) -> String) -> State {
        // `CANCELLED by 1000`, and `COMPLETED+` where a column was too narrow.
        let word = word.split([' ', '+']).next().unwrap_or_default();
        match word {
            "" => State::Unknown,
            "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED"
            | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => State::Pending(field("Reason")),
            "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT"
            | "RESIZING" => State::Running(field("NodeList")),
            "COMPLETED" => State::Completed,
            other => State::Failed {
                how: other.to_lowercase().replace('_', " "),
                exit: field("ExitCode"),
            },
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Pending(reason) if reason.is_empty() || reason == "None" => {
                f.write_str("pending")
            }
            State::Pending(reason) => write!(f, "pending ({reason})"),
            State::Running(node) => write!(f, "running on {node}"),
            State::Completed => f.write_str("completed"),
            State::Failed { how, exit } => write!(f, "{how}, exit status {exit}"),
            State::Unknown => f.write_str("over, and forgotten by Slurm"),
        }
    }
}

/// A job or, of an array, the tasks that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Empty if it is no part of an array.
    pub tasks: Vec<RangeInclusive<u32>>,
    pub job: Job,
}

impl Record {
    /// Whether it stands for a task of an array.
    pub(super) fn has(&self, task: u32) -> bool {
        self.tasks.iter().any(|range| range.contains(&task))
    }
}

/// What `scontrol --oneliner show job` prints, a job on each line.
pub(super) fn jobs(text: &str) -> Vec<Record> {
    let lines = text.lines().filter(|line| line.contains("JobState="));
    lines
        .map(|line| {
            // Values have no spaces where it matters; names and paths may, and come later.
            let field = |name: &str| {
                let start = format!("{name}=");
                let mut words = line.split_ascii_whitespace();
                let value = words.find_map(|word| word.strip_prefix(start.as_str()));
                value.unwrap_or_default().to_string()
            };
            Record {
                tasks: ranges(&field("ArrayTaskId")),
                job: Job {
                    state: State::parse(&field("JobState"), field),
                    requeued: field("Restarts").parse().unwrap_or(0),
                },
            }
        })
        .collect()
}

/// What `sacct --noheader --parsable2 --allocations --format=JobID,State,ExitCode,NodeList` prints.
pub(super) fn accounts(text: &str) -> Vec<Record> {
    let rows = text.lines().filter_map(|line| {
        let [id, state, exit, nodes] = line.split('|').collect::<Vec<_>>().try_into().ok()?;
        let field = |name: &str| match name {
            "ExitCode" => exit.to_string(),
            "NodeList" => nodes.to_string(),
            _ => String::new(),
        };
        let tasks = id.split_once('_').map(|(_, tasks)| tasks);
        let tasks = tasks.map(|tasks| tasks.trim_matches(['[', ']']));
        Some(Record {
            tasks: tasks.map(ranges).unwrap_or_default(),
            job: Job { state: State::parse(state, field), requeued: 0 },
        })
    });
    rows.collect()
}

/// `1-3,7%2`: the tasks of an array that have not been told apart yet, two at a time.
fn ranges(text: &str) -> Vec<RangeInclusive<u32>> {
    let ranges = text.split('%').next().unwrap_or_default().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.collect()
}

/// What `sbatch --parsable` prints: the number of the job, and the cluster if there are several.
pub(super) fn parsable(text: &str) -> Option<(u32, Option<String>)> {
    let line = text.lines().last()?.trim();
    let (job, cluster) = match line.split_once(';') {
        Some((job, cluster)) => (job, Some(cluster.to_string())),
        None => (line, None),
    };
    Some((job.parse().ok()?, cluster))
}

/// `MaxArraySize` in what `scontrol show config` prints.
pub(super) fn max_array_size(text: &str) -> Option<u32> {
    let mut lines = text.lines().filter_map(|line| line.split_once('='));
    let (_, value) = lines.find(|(key, _)| key.trim() == "MaxArraySize")?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slurm 22.05: a job was requeued because its node had failed, another one has ended.
    const JOBS: &str = "\
JobId=1 ArrayJobId=1 ArrayTaskId=2 JobName=job.sh UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=4294901759 Nice=0 Account=(null) QOS=(null) JobState=PENDING Reason=BeginTime Dependency=(null) Requeue=1 Restarts=1 BatchFlag=1 Reboot=0 ExitCode=0:0 RunTime=00:00:00 NodeList= NumNodes=1
JobId=3 ArrayJobId=1 ArrayTaskId=1 JobName=job.sh UserId=root(0) GroupId=root(0) JobState=COMPLETED Reason=None Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0 NodeList=n1 BatchHost=n1
JobId=7 ArrayJobId=1 ArrayTaskId=4-6,9%2 JobName=job.sh JobState=PENDING Reason=Resources Requeue=1 Restarts=0 ExitCode=0:0 NodeList=
JobId=8 ArrayJobId=1 ArrayTaskId=3 JobName=job.sh JobState=RUNNING Reason=None Requeue=1 Restarts=2 ExitCode=0:0 ReqNodeList=(null) NodeList=n2 BatchHost=n2
JobId=9 ArrayJobId=1 ArrayTaskId=7 JobName=job.sh JobState=NODE_FAIL Reason=NodeDown Requeue=0 Restarts=0 ExitCode=0:15 NodeList=n2
";

    #[test]
    fn scontrol_tells_states_nodes_and_restarts() {
        let records = jobs(JOBS);
        let of = |task: u32| {
            let found = records.iter().find(|record| record.has(task));
            found.map(|record| (record.job.state.to_string(), record.job.requeued))
        };
        let expect = |task, state: &str, requeued| {
            assert_eq!(of(task), Some((state.to_string(), requeued)), "{task}");
        };
        expect(1, "completed", 0);
        expect(2, "pending (BeginTime)", 1);
        expect(3, "running on n2", 2);
        expect(5, "pending (Resources)", 0);
        expect(7, "node fail, exit status 0:15", 0);
        expect(9, "pending (Resources)", 0);
        assert_eq!(of(8), None);
        assert_eq!(jobs("slurm_load_jobs error: Invalid job id specified\n"), []);
    }

    #[test]
    fn sacct_remembers_what_scontrol_forgot() {
        let text = "4_1|COMPLETED|0:0|n1\n4_2|CANCELLED by 0|0:15|n2\n4_[3-4]|PENDING|0:0|None assigned\n5|TIMEOUT|0:0|n1\n";
        let records = accounts(text);
        let words = Vec::from_iter(records.iter().map(|it| it.job.state.to_string()));
        let expected =
            ["completed", "cancelled, exit status 0:15", "pending", "timeout, exit status 0:0"];
        assert_eq!(words, expected);
        assert!(records[2].has(4) && records[3].tasks.is_empty());
    }

    #[test]
    fn sbatch_names_the_job() {
        assert_eq!(parsable("17\n"), Some((17, None)));
        assert_eq!(parsable("17;north\n"), Some((17, Some("north".into()))));
        assert_eq!(parsable("Submitted batch job 17\n"), None);
        assert_eq!(parsable(""), None);
    }

    #[test]
    fn the_largest_array_is_in_the_configuration() {
        let text = "MailProg                = /usr/bin/mail\nMaxArraySize            = 1001\nMaxDBDMsgs              = 20008\n";
        assert_eq!(max_array_size(text), Some(1_001));
        assert_eq!(max_array_size("slurm_load_ctl_conf error: Unable to contact"), None);
    }
}
