//! Long series made short enough to draw.

/// At most `points_max` points with the same look: of each bucket of neighbours the least and
/// the greatest stay, in their order of time, so that no spike is lost.
pub fn downsample(points: &[(f64, f64)], points_max: usize) -> Vec<(f64, f64)> {
    reduce(points, points_max, |_, [first, second]| {
        [Some(first), Some(second).filter(|second| *second != first)]
    })
}

/// At most `points_max` points whose places depend on nothing but the places of `points`, so that
/// curves over the same axis stay over the same axis. Of each bucket of neighbours the least and
/// the greatest value stay, in their order.
pub fn thinned(points: &[(f64, f64)], points_max: usize) -> Vec<(f64, f64)> {
    reduce(points, points_max, |bucket, [first, second]| {
        let middle = (bucket.len() > 1).then(|| bucket[bucket.len() / 2].0);
        let second = middle.map(|place| (place, second.1));
        [Some((bucket[0].0, first.1)), second]
    })
}

/// At most `points_max` points: of each bucket of neighbours what `keep` makes of it, of its least
/// and of its greatest point, those in the order of their places.
fn reduce(
    points: &[(f64, f64)],
    points_max: usize,
    keep: impl Fn(&[(f64, f64)], [(f64, f64); 2]) -> [Option<(f64, f64)>; 2],
) -> Vec<(f64, f64)> {
    assert!(points_max >= 2, "a curve has two ends");
    if points.len() <= points_max {
        return points.to_vec();
    }
    let size = points.len().div_ceil(points_max / 2);
    let buckets = points.chunks(size).flat_map(|bucket| {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let least = *bucket.iter().min_by(by_value).expect("no empty bucket");
        let greatest = *bucket.iter().max_by(by_value).expect("no empty bucket");
        if least.0 <= greatest.0 {
            keep(bucket, [least, greatest])
        } else {
            keep(bucket, [greatest, least])
        }
    });
    buckets.flatten().collect()
}

/// Leaves out points that lie on a level line between their neighbours: they do not show.
pub fn without_level_runs(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let is_level = |other: Option<&(f64, f64)>| other.is_some_and(|other| other.1 == point.1);
        let before = index.checked_sub(1).and_then(|before| points.get(before));
        if is_level(before) && is_level(points.get(index + 1)) {
            continue;
        }
        kept.push(*point);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(count: usize) -> Vec<(f64, f64)> {
        (0..count).map(|n| (n as f64, (n % 97) as f64)).collect()
    }

    #[test]
    fn short_curves_stay_as_they_are() {
        assert_eq!(downsample(&ramp(1_000), 1_000), ramp(1_000));
        assert_eq!(downsample(&[], 2), []);
    }

    #[test]
    fn long_curves_keep_their_spikes_and_their_order() {
        let mut points = ramp(100_000);
        points[31_415].1 = 1e6;
        points[27_182].1 = -1e6;
        let kept = downsample(&points, 1_000);
        assert!(kept.len() <= 1_000 && kept.len() > 900, "{}", kept.len());
        assert!(kept.contains(&(31_415.0, 1e6)));
        assert!(kept.contains(&(27_182.0, -1e6)));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn an_odd_limit_is_a_limit_too() {
        for points_max in [2, 3, 7, 999] {
            assert!(downsample(&ramp(12_345), points_max).len() <= points_max);
        }
    }

    #[test]
    fn curves_over_one_axis_stay_over_one_axis() {
        let mut points = ramp(10_001);
        points[3_141].1 = 1e6;
        let other: Vec<_> = points.iter().map(|(x, y)| (*x, -y)).collect();
        let (kept, other) = (thinned(&points, 500), thinned(&other, 500));
        assert!(kept.len() <= 500 && kept.len() > 400, "{}", kept.len());
        let places = |points: &[(f64, f64)]| Vec::from_iter(points.iter().map(|point| point.0));
        assert_eq!(places(&kept), places(&other));
        assert!(places(&kept).windows(2).all(|pair| pair[0] < pair[1]));
        assert!(
            kept.iter().any(|point| point.1 == 1e6) && other.iter().any(|point| point.1 == -1e6)
        );
    }

    #[test]
    fn level_stretches_keep_only_their_ends() {
        let points = [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 2.0), (4.0, 1.0)];
        let kept = [(0.0, 1.0), (2.0, 1.0), (3.0, 2.0), (4.0, 1.0)];
        assert_eq!(without_level_runs(&points), kept);
    }
}
