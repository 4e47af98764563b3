//! A claim over all of its readings: the strongest standing that it has.

use super::Scale;
use super::claim::{Judged, Verdict};
use super::data::Values;
use super::file::{Claim, Experiment};
use super::reading::{Origin, Reading, Reread, Under};

/// A claim under a reading, and what came of it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The reading under which the claim was judged.
    pub reading: Reading,
    /// What was judged: the claim with what it asks under this reading.
    pub judged: Judged,
}

impl Tried {
    /// The name of the reading, and where it comes from.
    pub fn name(&self) -> String {
        format!("{} ({})", self.reading.name, self.reading.source.name())
    }
}

/// All that claims of an experiment are judged by.
pub(super) struct Judge<'a> {
    pub experiment: &'a Experiment,
    pub scale: Scale,
    /// What was measured as the experiment is written.
    pub written: &'a Values,
    /// What was measured under its readings.
    pub readings: &'a [Reread],
    /// How the names of the values of cases and campaigns begin.
    pub prefixes: &'a [String],
}

impl Judge<'_> {
    /// Judges a claim as written and under its readings. Fails with a name that nothing has.
    pub fn judge(&self, claim: &Claim) -> Result<Judged, String> {
        let mut judged = self.one(claim, self.written)?;
        if judged.verdict == Verdict::OtherScale {
            return Ok(judged);
        }
        for under in claim.under.iter() {
            judged.readings.extend(self.under(claim, under)?);
        }
        if let Some(contradiction) = claim.contradiction() {
            let computed = self.one(&contradiction, self.written)?.findings;
            if computed.iter().any(|it| !it.holds) {
                judged.verdict = Verdict::Broken;
            }
            judged.computed = computed;
        }
        judged.verdict = overall(&judged);
        Ok(judged)
    }

    fn under(&self, claim: &Claim, under: &Under) -> Result<Option<Tried>, String> {
        let name = under.reading.as_str();
        let mut readings = self.experiment.readings.iter();
        let Some(reading) = readings.find(|it| *it.name == name) else {
            return Ok(None);
        };
        let values = self.readings.iter().find(|it| it.reading == name);
        let values = values.map_or(self.written, |it| &it.all);
        let judged = self.one(&claim.read_as(under), values)?;
        Ok(Some(Tried { reading: reading.clone(), judged }))
    }

    fn one(&self, claim: &Claim, values: &Values) -> Result<Judged, String> {
        if claim.scale.or(self.scale) == self.scale
            && let Some(name) = claim.unknown(self.experiment, values, self.prefixes)
        {
            return Err(format!("claim {:?}: nothing is called {name}", claim.text.value));
        }
        Ok(claim.judge(values, &self.experiment.disciplines, self.scale))
    }
}

/// What a claim counts as, once: as written if it is met so, else by the best source of a reading
/// under which it is. Anything that the file has wrong comes first.
fn overall(judged: &Judged) -> Verdict {
    let readings = || judged.readings.iter().map(|it| (*it.reading.source, it.judged.verdict));
    let written = judged.verdict;
    for wrong in [Verdict::Broken, Verdict::Unmarked] {
        if written == wrong || readings().any(|(_, verdict)| verdict == wrong) {
            return wrong;
        }
    }
    let is_under = |is_fitted: bool, verdict: Verdict| {
        readings().any(|(source, it)| (source == Origin::Fitted) == is_fitted && it == verdict)
    };
    if written != Verdict::NotMet {
        written
    } else if is_under(false, Verdict::Met) {
        Verdict::Sourced
    } else if is_under(false, Verdict::Partly) {
        Verdict::SourcedPartly
    } else if judged.claim.contradicted.is_written {
        Verdict::Contradicted
    } else if is_under(true, Verdict::Met) || is_under(true, Verdict::Partly) {
        Verdict::Fitted
    } else {
        Verdict::NotMet
    }
}
