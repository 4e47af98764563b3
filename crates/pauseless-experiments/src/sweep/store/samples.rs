//! The finished runs of experiments, in the same form as those of a campaign, but for their numbers,
//! which may be others in every run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::columns::Columns;
use super::failure::Failure;
use super::record::{Record, Value};
use super::writer::{Tables, Writer};
use super::{DOCUMENTS, FLOWS, JOURNAL, PARTS, SERIES, disk, journal, part};
use crate::sweep::row::{Name, Row};
use pauseless_run::sample::Sample;
use pauseless_run::table::{Cells, Column, Table, read};

/// A folder of finished runs, each under the hash of all that it depends on: the program itself, the
/// scenario, and what is measured.
pub struct Samples {
    writer: Writer,
    /// The hash of the program.
    program: String,
    /// The runs that were there when the folder was opened: why each ended, and its numbers.
    known: BTreeMap<Name, Known>,
}

/// What the rows of a folder say of a run.
#[derive(Clone, Debug, Default)]
struct Known {
    ended: String,
    numbers: BTreeMap<String, f64>,
}

impl Known {
    /// Whether the run has a JSON document.
    fn has_document(&self) -> bool {
        self.numbers.get(COUNTS[2]).is_some_and(|count| *count > 0.0)
    }
}

impl Samples {
    /// Opens the folder at `path`, and makes it if there is none.
    pub fn open(path: &Path) -> Result<Samples, Failure> {
        // The runs of damaged lines are made again.
        super::recover(path)?;
        let program = std::env::current_exe().and_then(fs::read);
        let program = program.map_err(|error| Failure::read(path, &error))?;
        let mut known: BTreeMap<Name, Known> = BTreeMap::new();
        let mut add = |names: &[String], row: Row| {
            let numbers = names.iter().cloned().zip(row.numbers);
            let numbers = numbers.filter_map(|(name, number)| Some((name, number?)));
            let new = Known { ended: row.ended, numbers: numbers.collect() };
            // A run that was made again for its document is there twice: that one counts.
            let old = known.entry(row.task).or_default();
            if new.has_document() || !old.has_document() {
                *old = new;
            }
        };
        // Journals come first: what leaves one in the meantime is in a part by then.
        for file in disk::list(&path.join(JOURNAL), journal::EXTENSION)? {
            for record in journal::read(&file)?.map_or(Vec::new(), |contents| contents.records) {
                let names = Vec::from_iter(record.numbers.iter().map(|(name, _)| name.clone()));
                record.row(&names).into_iter().for_each(|row| add(&names, row));
            }
        }
        for file in disk::list(&path.join(PARTS), part::EXTENSION)? {
            let (names, rows) = part::read_all(&file)?;
            rows.into_iter().for_each(|row| add(&names, row));
        }
        let writer = Writer::new(path, Columns::default())?;
        Ok(Samples { writer, program: Name::of(&[&program]).to_string(), known })
    }

    /// The name of a run that depends on `parts` and on the program.
    pub(crate) fn name(&self, parts: &[impl AsRef<str>]) -> Name {
        let parts = parts.iter().map(AsRef::as_ref);
        Name::of(&Vec::from_iter([self.program.as_str()].into_iter().chain(parts)))
    }

    /// How many runs there were when the folder was opened.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// A run that was finished before. One whose files are not all there is to be made again.
    pub(crate) fn get(&self, task: &Name) -> Option<Sample> {
        let Known { ended, numbers: mut metrics } = self.known.get(task)?.clone();
        let [instants, flows, documents] = COUNTS.map(|name| metrics.remove(name));
        let metrics = metrics.into_iter();
        let metrics =
            metrics.filter_map(|(name, it)| Some((name.strip_prefix(METRIC)?.into(), it)));
        let mut sample = Sample { ended, metrics: metrics.collect(), ..Sample::default() };
        if instants? > 0.0 {
            let mut columns = self.table(SERIES, task)?.into_iter();
            sample.times_ms = columns.next()?.1;
            sample.curves = columns.collect();
        }
        if flows? > 0.0 {
            let mut columns = self.table(FLOWS, task)?.into_iter();
            sample.fct_us = columns.next()?.1;
            sample.slowdowns = columns.next()?.1;
        }
        if documents? > 0.0 {
            let file = self.writer.folder.join(DOCUMENTS).join(format!("{task}.json"));
            sample.document = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        }
        let is_whole = Some(sample.times_ms.len() as f64) == instants;
        is_whole.then_some(sample)
    }

    /// The columns of a table of a run by their names, without the cells that are empty.
    fn table(&self, folder: &str, task: &Name) -> Option<Vec<(String, Vec<f64>)>> {
        let path = self.writer.folder.join(folder).join(format!("{task}.{}", part::EXTENSION));
        let columns = read::all(fs::File::open(path).ok()?).ok()?.into_iter();
        let columns = columns.map(|column| match column.cells {
            Cells::Numbers(cells) => Some((column.name, cells.into_iter().flatten().collect())),
            _ => None,
        });
        columns.collect()
    }

    /// Keeps a run. When this returns, a process that is killed does not lose it.
    pub(crate) fn put(&self, task: Name, sample: &Sample) -> Result<(), Failure> {
        let column =
            |name: &str, cells: &[f64]| Column::numbers(name, cells.iter().copied().map(Some));
        let mut series = vec![column("time_ms", &sample.times_ms)];
        series.extend(sample.curves.iter().map(|(name, curve)| column(name, curve)));
        let rows = sample.fct_us.len().max(sample.slowdowns.len());
        let mut flows =
            vec![column("fct_us", &sample.fct_us), column("slowdown", &sample.slowdowns)];
        for Column { cells, .. } in &mut flows {
            if let Cells::Numbers(cells) = cells {
                cells.resize(rows, None);
            }
        }
        let counts = [sample.times_ms.len(), rows, usize::from(sample.document.is_some())];
        let [series, flows] = [Table::new("series", series), Table::new("flows", flows)];
        let tables = Tables {
            curves: Some(&series).filter(|_| counts[0] > 0),
            flows: Some(&flows).filter(|_| counts[1] > 0),
        };
        if let Some(document) = &sample.document {
            let folder = self.writer.folder.join(DOCUMENTS);
            fs::create_dir_all(&folder).map_err(|error| Failure::write(&folder, &error))?;
            let target = folder.join(format!("{task}.json"));
            disk::put(&target, document.to_string().as_bytes())?;
        }
        let counts = COUNTS.into_iter().map(str::to_string).zip(counts.map(|it| it as f64));
        let metrics = sample.metrics.iter().map(|(name, it)| (format!("{METRIC}{name}"), *it));
        let numbers = counts.chain(metrics).map(|(name, number)| (name, Some(Value::of(number))));
        let ended = sample.ended.clone();
        let record = Record { ended, numbers: numbers.collect(), ..Record::of(task) };
        self.writer.keep(&record, tables)
    }
}

/// How many instants, flows and documents a run has, in files of their own.
const COUNTS: [&str; 3] = ["instants", "flows", "documents"];

/// The prefix of the columns of metrics, so that they are like no other column.
const METRIC: &str = "metric:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_found_again_and_a_torn_one_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let store = Samples::open(folder).expect("a place on disk");
        let task = store.name(&["scenario", "measures"]);
        assert_ne!(task, store.name(&["scenariom", "easures"]));
        assert!(store.get(&task).is_none());
        let sample = Sample {
            ended: "deadlock".to_string(),
            metrics: BTreeMap::from([("deadlock".to_string(), 1.0), ("seed".to_string(), 0.1)]),
            times_ms: vec![0.5, 1.0],
            curves: BTreeMap::from([("a + b".to_string(), vec![1.5, 2.5])]),
            fct_us: vec![3.0, 4.0],
            slowdowns: vec![1.25],
            document: Some(serde_json::json!({ "verdict": "deadlock" })),
        };
        let plain = store.name(&["another"]);
        store.put(task, &sample).expect("a place on disk");
        store.put(plain, &Sample::default()).expect("a place on disk");
        drop(store);
        // Once out of the journal, which that seals, and once out of the parts.
        for _ in 0..2 {
            let store = Samples::open(folder).expect("the same folder");
            assert_eq!(store.len(), 2);
            assert_eq!(format!("{:?}", store.get(&task)), format!("{:?}", Some(&sample)));
            assert!(store.get(&plain).is_some_and(|it| it.metrics.is_empty()));
        }
        fs::remove_file(folder.join(SERIES).join(format!("{task}.parquet"))).expect("its curves");
        assert!(Samples::open(folder).expect("the same folder").get(&task).is_none());
    }

    /// As when `repro --full` is followed by `repro --full --json`, whichever row is read last.
    #[test]
    fn a_run_that_was_made_again_for_its_document_has_it() {
        let with = Sample { document: Some(serde_json::json!({})), ..Sample::default() };
        for (first, second) in [(&Sample::default(), &with), (&with, &Sample::default())] {
            let folder = tempfile::tempdir().expect("a folder");
            let task = Name::of(&["run"]);
            for sample in [first, second] {
                let store = Samples::open(folder.path()).expect("a place on disk");
                store.put(task, sample).expect("a place on disk");
            }
            // Once with the second row in a journal, and once with both in parts.
            for _ in 0..2 {
                let store = Samples::open(folder.path()).expect("the same folder");
                assert_eq!(store.len(), 1);
                assert!(store.get(&task).is_some_and(|it| it.document.is_some()));
            }
        }
    }

    #[test]
    fn a_process_that_dies_loses_only_what_it_was_writing() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let store = Samples::open(folder).expect("a place on disk");
        let tasks = ["a", "b"].map(|name| store.name(&[name]));
        tasks.iter().for_each(|task| store.put(*task, &Sample::default()).expect("a place"));
        drop(store);
        let [journal] = &disk::list(&folder.join(JOURNAL), journal::EXTENSION).expect("one")[..]
        else {
            panic!("one journal");
        };
        let bytes = fs::read(journal).expect("a journal");
        fs::write(journal, &bytes[..bytes.len() - 9]).expect("a place on disk");
        let store = Samples::open(folder).expect("the same folder");
        assert_eq!(tasks.map(|task| store.get(&task).is_some()), [true, false]);
    }
}
