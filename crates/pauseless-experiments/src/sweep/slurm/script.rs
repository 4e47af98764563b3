//! The scripts that Slurm runs.

use std::path::Path;

use super::{FOLDER, Failure, Request};

/// The script of the job array: each of its jobs makes one part.
pub(super) fn array(request: &Request) -> Result<String, Failure> {
    let head = head(request, &request.name, "%A_%a")?;
    let Request { shards, cpus, .. } = request;
    let sweep = sweep(request, "")?;
    Ok(format!(
        "{head}\
         #SBATCH --array=1-{shards}\n\
         #SBATCH --cpus-per-task={cpus}\n\
         # A job whose node fails is started again elsewhere, and goes on where it was.\n\
         #SBATCH --requeue\n\
         \n\
         exec {sweep} --shard \"$SLURM_ARRAY_TASK_ID/{shards}\" --threads {cpus} --quiet\n"
    ))
}

/// The script of the job that merges.
pub(super) fn merge(request: &Request) -> Result<String, Failure> {
    let head = head(request, &format!("{}-merge", request.name), "merge_%j")?;
    let sweep = sweep(request, " merge")?;
    Ok(format!("{head}#SBATCH --requeue\n\nexec {sweep}\n"))
}

fn head(request: &Request, name: &str, log: &str) -> Result<String, Failure> {
    // Slurm replaces %a and the like in the names of logs.
    let folder = text(&request.folder)?.replace('%', "%%");
    let log = format!("{folder}/{FOLDER}/{log}.log");
    Ok(format!(
        "#!/bin/sh\n\
         # Written by pauseless {}.\n\
         #SBATCH --job-name={}\n\
         #SBATCH --output={}\n\
         # What a job had said before it was requeued stays.\n\
         #SBATCH --open-mode=append\n",
        pauseless_run::VERSION,
        quoted(name),
        quoted(&log),
    ))
}

/// The command for this campaign.
fn sweep(request: &Request, verb: &str) -> Result<String, Failure> {
    let program = quoted(&text(&request.program)?);
    let file = quoted(&text(&request.file)?);
    let size = request.size.as_ref();
    let size = size.map_or(String::new(), |size| format!(" --size {}", quoted(size)));
    let folder = quoted(&text(&request.folder)?);
    Ok(format!("{program} sweep{verb} {file}{size} --out {folder}"))
}

/// A path as it stands in a script. A line feed would end a line that Slurm reads.
fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().filter(|text| !text.contains(['\n', '\r'])).map(str::to_string).ok_or_else(|| {
        Failure::new(
            format!("{path:?} cannot stand in a script"),
            "choose a name without line feeds and in UTF-8",
        )
    })
}

/// A word as the shell takes it, whatever is in it. Slurm unquotes its options in the same way.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn request() -> Request {
        Request {
            program: "/opt/pauseless".into(),
            file: "/home/u/it's $HOME \"x\".sweep.toml".into(),
            size: Some("quick".to_string()),
            folder: "/data/100 %".into(),
            name: "it's $HOME \"x\"-quick".to_string(),
            tasks: 100,
            shards: 8,
            cpus: 2,
            options: Vec::new(),
        }
    }

    #[test]
    fn scripts_name_everything_in_full() {
        let text = array(&request()).expect("good names");
        let expected = [
            "#SBATCH --output='/data/100 %%/slurm/%A_%a.log'",
            "#SBATCH --array=1-8",
            "#SBATCH --cpus-per-task=2",
            "#SBATCH --requeue",
            "--shard \"$SLURM_ARRAY_TASK_ID/8\" --threads 2 --quiet",
        ];
        for line in expected {
            assert!(text.contains(line), "{line}: {text}");
        }
        let wrong = Request { folder: "/data/a\nb".into(), ..request() };
        assert!(merge(&wrong).is_err());
    }

    /// The shell itself takes the command apart, whatever is in the names.
    #[test]
    fn the_shell_sees_the_names_as_they_are() {
        let text = merge(&request()).expect("good names");
        let line = text.lines().last().expect("a command");
        let line = line.replace("exec /opt/pauseless", "printf '%s|'");
        let output = Command::new("sh").args(["-c", &line]).output();
        let output = output.expect("there is a shell").stdout;
        let expected =
            "sweep|merge|/home/u/it's $HOME \"x\".sweep.toml|--size|quick|--out|/data/100 %|";
        assert_eq!(String::from_utf8_lossy(&output), expected);
    }
}
