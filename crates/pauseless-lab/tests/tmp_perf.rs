use std::ops::ControlFlow;
use std::time::Instant;
use pauseless_lab::sweep::campaign::Campaign;
use pauseless_lab::sweep::plan::Plan;
#[test]
fn perf() {
    let path = std::env::var("FILE").unwrap();
    let size = std::env::var("SIZE").ok();
    let t = Instant::now();
    let c = match Campaign::read(path.as_ref(), size.as_deref()) { Ok(c) => c, Err(e) => panic!("{e}") };
    println!("read {:?}", t.elapsed());
    let t = Instant::now();
    let plan = Plan::new(c, None, &|_, _| ControlFlow::Continue(())).unwrap();
    println!("plan {:?} {} tasks", t.elapsed(), plan.len());
    if let Some(s) = &plan.screened { println!("{} {} {} {}", s.looked_at, s.by_cyclic, s.by_connected, s.left.len()); }
    let t = Instant::now();
    let n = 2000.min(plan.len());
    for i in 0..n { std::hint::black_box(plan.task(i * (plan.len() / n))); }
    println!("task {:?}", t.elapsed() / n as u32);
}
