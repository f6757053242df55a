//! The protocol: a message is one JSON object, and so is the answer.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::evals;
use crate::task::Task;

/// The answer to one line.
pub fn answer(line: &str) -> Value {
    let message: Value = match serde_json::from_str(line) {
        Ok(message) => message,
        Err(error) => return json!({ "id": null, "success": false, "error": error.to_string() }),
    };
    let mut answer = match message["kind"].as_str() {
        Some("start") => json!({ "tool": "pullback" }),
        Some("define") => {
            json!({ "success": message["module"].as_str().is_some_and(|name| evals::find(name).is_some()) })
        }
        Some("evaluate") => match evaluate(&message) {
            Ok((output, timings)) => json!({ "success": true, "output": output, "timings": timings }),
            Err(error) => json!({ "success": false, "error": error }),
        },
        // What the eval thinks of an answer asks for nothing, and nor does what is not known.
        _ => json!({}),
    };
    answer["id"] = message["id"].clone();
    answer
}

fn evaluate(message: &Value) -> Result<(Value, Vec<Value>), String> {
    let (module, function) = (message["module"].as_str(), message["function"].as_str());
    let (Some(module), Some(function)) = (module, function) else {
        return Err("a message of kind `evaluate` has a `module` and a `function`".to_owned());
    };
    let make = evals::find(module).ok_or_else(|| format!("`{module}` is not defined here"))?;
    let input = &message["input"];
    let start = Instant::now();
    let mut task = make(function, input)?;
    let mut timings = vec![timing("prepare", start.elapsed())];
    let min_runs = input["min_runs"].as_u64().unwrap_or(1).max(1);
    let min_seconds = input["min_seconds"].as_f64().unwrap_or(0.0);
    timings
        .extend(repeat(&mut *task, min_runs, min_seconds).into_iter().map(|time| timing("evaluate", time)));
    Ok((task.output(), timings))
}

/// Runs a task as often as asked for; returns how long each of the runs took.
pub fn repeat(task: &mut dyn Task, min_runs: u64, min_seconds: f64) -> Vec<Duration> {
    let (mut times, mut total) = (Vec::new(), Duration::ZERO);
    while (times.len() as u64) < min_runs || total.as_secs_f64() < min_seconds {
        let start = Instant::now();
        task.run();
        let time = start.elapsed();
        total += time;
        times.push(time);
    }
    times
}

fn timing(name: &str, time: Duration) -> Value {
    json!({ "name": name, "nanoseconds": u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(message: Value) -> Value {
        answer(&message.to_string())
    }

    #[test]
    fn messages() {
        assert_eq!(
            answered(json!({ "id": 0, "kind": "start", "eval": "hello" })),
            json!({ "id": 0, "tool": "pullback" })
        );
        assert_eq!(
            answered(json!({ "id": 1, "kind": "define", "module": "gmm" })),
            json!({ "id": 1, "success": true })
        );
        assert_eq!(
            answered(json!({ "id": 2, "kind": "define", "module": "x" })),
            json!({ "id": 2, "success": false })
        );
        assert_eq!(
            answered(json!({ "id": 3, "kind": "analysis", "of": 2, "valid": true })),
            json!({ "id": 3 })
        );
    }

    #[test]
    fn runs_are_repeated() {
        let input = json!({ "x": [0.0, 0.0], "min_runs": 3, "min_seconds": 0.0 });
        let answer = answered(
            json!({ "id": 7, "kind": "evaluate", "module": "lse", "function": "gradient", "input": input }),
        );
        assert_eq!(
            (&answer["id"], &answer["success"], &answer["output"]),
            (&json!(7), &json!(true), &json!([0.5, 0.5]))
        );
        let named = |name| answer["timings"].as_array().unwrap().iter().filter(|t| t["name"] == name).count();
        assert_eq!((named("prepare"), named("evaluate")), (1, 3));
    }

    #[test]
    fn mistakes_are_told() {
        for (module, function, input) in [
            ("nothing", "primal", json!({})),
            ("lse", "nothing", json!({ "x": [1.0] })),
            ("lse", "primal", json!({ "x": "1" })),
            ("det", "primal", json!({ "A": [1.0, 2.0], "ell": 2 })),
        ] {
            let message = json!({ "id": 1, "kind": "evaluate", "module": module, "function": function, "input": input });
            let answer = answered(message);
            assert_eq!(answer["success"], false, "{module} {function}");
            assert!(answer["error"].is_string() && answer.get("output").is_none());
        }
        assert_eq!(answer("{")["success"], false);
    }
}
