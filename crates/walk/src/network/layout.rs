//! Where to draw the nodes: as the network's source says, or so that distances on
//! paper are like those in the network.

use crate::network::Network;
use crate::network::distance::hops_from;

/// Points on a box whose longer side is 1, from its upper left corner.
///
/// Without given coordinates: pivot multidimensional scaling (Brandes and Pich,
/// 2006), then, for networks of up to 500 nodes, stress majorization (Gansner,
/// Koren and North, 2004). Deterministic.
pub fn points(network: &Network) -> Vec<(f64, f64)> {
    let mut points = match network.coordinates() {
        Some(points) => points.to_vec(),
        None => scaled(network),
    };
    let span = |value: fn(&(f64, f64)) -> f64| {
        let low = points.iter().map(value).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        (low, high - low)
    };
    let (left, width) = span(|point| point.0);
    let (top, height) = span(|point| point.1);
    let size = width.max(height);
    let size = if size > 0.0 { size } else { 1.0 };
    for point in &mut points {
        *point = ((point.0 - left) / size, (point.1 - top) / size);
    }
    points
}

fn scaled(network: &Network) -> Vec<(f64, f64)> {
    let nodes = network.len();
    let pivots = nodes.min(60);
    let mut hops: Vec<Vec<f64>> = Vec::new();
    let mut nearest = vec![f64::INFINITY; nodes];
    let mut pivot = 0;
    // Each pivot is as far from those before it as can be.
    for _ in 0..pivots {
        let from: Vec<f64> = hops_from(network, pivot)
            .iter()
            .map(|&hops| f64::from(hops))
            .collect();
        for (nearest, &hops) in nearest.iter_mut().zip(&from) {
            *nearest = nearest.min(hops);
        }
        hops.push(from);
        let furthest =
            (0..nodes).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]).then(b.cmp(&a)));
        pivot = furthest.unwrap_or(0) as u32;
    }
    let x = component(&hops, &[]);
    let y = component(&hops, std::slice::from_ref(&x.0));
    let mut points: Vec<(f64, f64)> = x.1.into_iter().zip(y.1).collect();
    if nodes <= 500 {
        majorize(network, &mut points);
    }
    points
}

/// A main direction of the doubly centred squared distances, orthogonal to those
/// before, in pivot space and as coordinates of the nodes.
fn component(hops: &[Vec<f64>], before: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let (pivots, nodes) = (hops.len(), hops[0].len());
    let squares: Vec<Vec<f64>> = hops
        .iter()
        .map(|row| row.iter().map(|hops| hops * hops).collect())
        .collect();
    let of_pivot: Vec<f64> = squares
        .iter()
        .map(|row| row.iter().sum::<f64>() / nodes as f64)
        .collect();
    let of_node: Vec<f64> = (0..nodes)
        .map(|node| squares.iter().map(|row| row[node]).sum::<f64>() / pivots as f64)
        .collect();
    let all = of_pivot.iter().sum::<f64>() / pivots as f64;
    let centred = |pivot: usize, node: usize| {
        -0.5 * (squares[pivot][node] - of_pivot[pivot] - of_node[node] + all)
    };
    let project = |direction: &[f64]| -> Vec<f64> {
        (0..nodes)
            .map(|node| {
                (0..pivots)
                    .map(|pivot| centred(pivot, node) * direction[pivot])
                    .sum()
            })
            .collect()
    };
    // Some start that is orthogonal to nothing in particular.
    let mut direction: Vec<f64> = (0..pivots)
        .map(|pivot| ((pivot * 7 + 3) % 11) as f64 - 4.6)
        .collect();
    for _ in 0..80 {
        for known in before {
            let along: f64 = known.iter().zip(&direction).map(|(a, b)| a * b).sum();
            for (value, known) in direction.iter_mut().zip(known) {
                *value -= along * known;
            }
        }
        if !normalize(&mut direction) {
            break;
        }
        let nodes_along = project(&direction);
        direction = (0..pivots)
            .map(|pivot| {
                nodes_along
                    .iter()
                    .enumerate()
                    .map(|(node, along)| centred(pivot, node) * along)
                    .sum()
            })
            .collect();
    }
    normalize(&mut direction);
    let along = project(&direction);
    (direction, along)
}

/// Makes a vector of length 1, unless it is nearly nothing: whether it is now.
fn normalize(vector: &mut [f64]) -> bool {
    let squares: f64 = vector.iter().map(|value| value * value).sum();
    let length = squares.sqrt();
    let some = length >= 1e-12;
    if some {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    some
}

/// Moves every node to where the others would have it, again and again.
fn majorize(network: &Network, points: &mut [(f64, f64)]) {
    let hops: Vec<Vec<u32>> = network
        .nodes()
        .map(|node| hops_from(network, node))
        .collect();
    let apart = |a: usize, b: usize| f64::from(hops[a][b].min(hops[b][a]));
    // The scaling has its own size; begin with links of about length 1.
    let mut drawn = 0.0;
    let mut links = 0.0;
    for (a, b) in network.links() {
        let (p, q) = (points[a as usize], points[b as usize]);
        drawn += (p.0 - q.0).hypot(p.1 - q.1);
        links += 1.0;
    }
    let size = if drawn > 0.0 { links / drawn } else { 1.0 };
    for (index, point) in points.iter_mut().enumerate() {
        // Nodes that coincide would pull in no direction.
        let nudge = 1e-3 * (index as f64 * 2.4).sin();
        *point = (
            point.0 * size + nudge,
            point.1 * size + 1e-3 * (index as f64 * 2.4).cos(),
        );
    }
    for _ in 0..150 {
        for node in 0..points.len() {
            let (mut x, mut y, mut weight) = (0.0, 0.0, 0.0);
            for other in (0..points.len()).filter(|&other| other != node) {
                let wanted = apart(node, other);
                let (dx, dy) = (
                    points[node].0 - points[other].0,
                    points[node].1 - points[other].1,
                );
                let drawn = dx.hypot(dy).max(1e-9);
                let pull = 1.0 / (wanted * wanted);
                x += pull * (points[other].0 + wanted * dx / drawn);
                y += pull * (points[other].1 + wanted * dy / drawn);
                weight += pull;
            }
            points[node] = (x / weight, y / weight);
        }
    }
}
