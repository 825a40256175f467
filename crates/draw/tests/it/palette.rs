//! What people see: contrast, and distances between colours for every kind of eye.
//!
//! Distances are CIEDE2000 (Sharma, Wu and Dalal 2005), and 10 is a difference that
//! nobody misses side by side. Dichromacy is simulated as by Machado, Oliveira and
//! Fernandes (2009), severity 1.

use headway_draw::{DARK, LIGHT, Palette};

type Colour = [f64; 3];

fn linear(colour: &str) -> Colour {
    [1, 3, 5].map(|at| {
        let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    })
}

fn times(matrix: &[Colour; 3], colour: Colour) -> Colour {
    matrix.map(|row| row.iter().zip(colour).map(|(a, b)| a * b).sum())
}

const NORMAL: [Colour; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const PROTANOPIA: [Colour; 3] = [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
];
const DEUTERANOPIA: [Colour; 3] = [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881],
];
const TRITANOPIA: [Colour; 3] = [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.303900],
];

/// CIELAB of linear sRGB.
fn lab(colour: Colour) -> Colour {
    const TO_XYZ: [Colour; 3] = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ];
    let xyz = times(&TO_XYZ, colour.map(|part| part.clamp(0.0, 1.0)));
    let white = [0.95047, 1.0, 1.08883];
    let [x, y, z] = [0, 1, 2].map(|index| {
        let share: f64 = xyz[index] / white[index];
        if share > 216.0 / 24389.0 {
            share.cbrt()
        } else {
            (24389.0 / 27.0 * share + 16.0) / 116.0
        }
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn ciede2000(one: Colour, other: Colour) -> f64 {
    let chroma = |[_, a, b]: Colour| a.hypot(b);
    let damped = |chroma: f64| (chroma.powi(7) / (chroma.powi(7) + 25f64.powi(7))).sqrt();
    let stretch = 1.5 - 0.5 * damped((chroma(one) + chroma(other)) / 2.0);
    let polar = |[lightness, a, b]: Colour| {
        let a = a * stretch;
        (
            lightness,
            a.hypot(b),
            b.atan2(a).to_degrees().rem_euclid(360.0),
        )
    };
    let ((l1, c1, h1), (l2, c2, h2)) = (polar(one), polar(other));
    let turn = (h2 - h1 + 180.0).rem_euclid(360.0) - 180.0;
    let hue_step = 2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin();
    let (lightness, c) = ((l1 + l2) / 2.0, (c1 + c2) / 2.0);
    let hue = (h1 + turn / 2.0).rem_euclid(360.0);
    let cos = |degrees: f64| degrees.to_radians().cos();
    let t = 1.0 - 0.17 * cos(hue - 30.0) + 0.24 * cos(2.0 * hue) + 0.32 * cos(3.0 * hue + 6.0)
        - 0.20 * cos(4.0 * hue - 63.0);
    let off = (lightness - 50.0).powi(2);
    let s_l = 1.0 + 0.015 * off / (20.0 + off).sqrt();
    let (s_c, s_h) = (1.0 + 0.045 * c, 1.0 + 0.015 * c * t);
    let rotation = 60.0 * (-((hue - 275.0) / 25.0).powi(2)).exp();
    let r_t = -2.0 * damped(c) * rotation.to_radians().sin();
    let (dl, dc, dh) = ((l2 - l1) / s_l, (c2 - c1) / s_c, hue_step / s_h);
    (dl * dl + dc * dc + dh * dh + r_t * dc * dh).sqrt()
}

fn seen(eye: &[Colour; 3], colour: &str) -> Colour {
    lab(times(eye, linear(colour)))
}

fn distance(eye: &[Colour; 3], one: &str, other: &str) -> f64 {
    ciede2000(seen(eye, one), seen(eye, other))
}

/// Of WCAG 2.2.
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |colour| {
        let [red, green, blue] = linear(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    };
    let (one, other) = (luminance(one), luminance(other));
    one.max(other) / one.min(other)
}

fn closest(eye: &[Colour; 3], colours: &[&str]) -> f64 {
    let pairs = (0..colours.len()).flat_map(|i| (0..i).map(move |k| (i, k)));
    let distances = pairs.map(|(i, k)| distance(eye, colours[i], colours[k]));
    distances.fold(f64::INFINITY, f64::min)
}

const BOTH: [&Palette; 2] = [&LIGHT, &DARK];

/// Three pairs of the table that Sharma, Wu and Dalal publish for implementers.
#[test]
fn distances_are_those_of_the_published_table() {
    for (one, other, expected) in [
        ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
        ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.1492),
        (
            [60.2574, -34.0099, 36.2677],
            [60.4626, -34.1751, 39.4387],
            1.2644,
        ),
    ] {
        let found = ciede2000(one, other);
        assert!((found - expected).abs() < 1e-4, "{found}, not {expected}");
    }
}

#[test]
fn every_eye_tells_tokens_apart() {
    for palette in BOTH {
        let tokens = &palette.tokens;
        assert!(closest(&NORMAL, tokens) > 15.0);
        assert!(closest(&DEUTERANOPIA, tokens) > 15.0);
        assert!(closest(&PROTANOPIA, tokens) > 15.0);
        assert!(closest(&TRITANOPIA, tokens) > 7.5);
    }
}

/// The colours of version 0.1.0: with deuteranopia, tokens 0 and 3 were one.
#[test]
fn the_measure_notices_colours_that_merge() {
    let before = ["#d98200", "#2e8fd0", "#0a8f6b", "#b39700", "#0b5fa5"];
    assert!(closest(&NORMAL, &before) > 15.0);
    assert!(closest(&DEUTERANOPIA, &before) < 2.0);
}

#[test]
fn every_eye_tells_good_from_bad() {
    for palette in BOTH {
        for eye in [&NORMAL, &DEUTERANOPIA, &PROTANOPIA, &TRITANOPIA] {
            assert!(distance(eye, palette.good, palette.bad) > 20.0);
        }
        let tokens = palette.tokens.iter();
        let nearest = tokens.map(|token| distance(&NORMAL, token, palette.bad));
        assert!(nearest.fold(f64::INFINITY, f64::min) > 15.0);
    }
}

#[test]
fn everything_can_be_read_on_its_ground() {
    for palette in BOTH {
        for ground in [palette.ground, palette.raised] {
            for text in [
                palette.ink,
                palette.muted,
                palette.accent,
                palette.good,
                palette.bad,
            ] {
                assert!(contrast(text, ground) > 4.5, "{text} on {ground}");
            }
        }
        for drawn in palette
            .tokens
            .iter()
            .chain([&palette.delay, &palette.counter, &palette.relay])
        {
            assert!(contrast(drawn, palette.ground) > 3.0, "{drawn}");
        }
        assert!(contrast(palette.good, palette.good_wash) > 4.5);
        assert!(contrast(palette.bad, palette.bad_wash) > 4.5);
        assert!(contrast(palette.ink, palette.shade) > 4.5);
    }
}

#[test]
fn templates_are_filled_in_by_whole_names() {
    let filled = LIGHT.fill_in("a{b:$good;c:$good-wash}d{e:$token-7;f:$nothing}$");
    let (good, wash, token) = (LIGHT.good, LIGHT.good_wash, LIGHT.tokens[7]);
    assert_eq!(
        filled,
        format!("a{{b:{good};c:{wash}}}d{{e:{token};f:$nothing}}$")
    );
}
