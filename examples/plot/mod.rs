//! What the examples have in common that hand a function to a solver: a picture of what came out, in `target/`.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

pub(crate) use plotters::chart::SeriesLabelPosition;
use plotters::prelude::*;

/// Points of a line, or dots.
pub(crate) type Points = Vec<(f64, f64)>;

/// One diagram. What is named is in the legend.
pub(crate) struct Diagram {
    pub(crate) title: &'static str,
    pub(crate) axes: [&'static str; 2],
    pub(crate) ranges: [Range<f64>; 2],
    /// Where there is room for the legend.
    pub(crate) legend: SeriesLabelPosition,
    /// Areas between two lines.
    pub(crate) bands: Vec<(&'static str, Points, Points)>,
    pub(crate) lines: Vec<(&'static str, Points)>,
    pub(crate) dots: Vec<(&'static str, Points)>,
}

const COLOURS: [RGBColor; 6] = [
    RGBColor(31, 119, 180),
    RGBColor(255, 127, 14),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
    RGBColor(23, 190, 207),
];

/// Draws diagrams beside each other to `target/NAME.svg`.
pub(crate) fn draw(name: &str, diagrams: Vec<Diagram>) -> Result<(), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join(name).with_extension("svg");
    std::fs::create_dir_all(path.parent().ok_or("no folder to draw into")?)?;
    {
        let area = SVGBackend::new(&path, (560 * diagrams.len() as u32, 420)).into_drawing_area();
        area.fill(&WHITE)?;
        for (canvas, diagram) in area.split_evenly((1, diagrams.len())).iter().zip(diagrams) {
            diagram.draw(canvas)?;
        }
        area.present()?;
    }
    println!("\ndrawn to {}", path.display());
    Ok(())
}

impl Diagram {
    fn draw(
        self,
        canvas: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    ) -> Result<(), Box<dyn Error>> {
        let [x, y] = self.ranges;
        let mut chart = ChartBuilder::on(canvas)
            .caption(self.title, ("sans-serif", 18))
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(52)
            .build_cartesian_2d(x, y)?;
        let [x, y] = self.axes;
        chart.configure_mesh().light_line_style(TRANSPARENT).x_desc(x).y_desc(y).draw()?;
        for (i, (name, below, above)) in self.bands.into_iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()].mix(0.2);
            let outline: Points = below.into_iter().chain(above.into_iter().rev()).collect();
            chart
                .draw_series([Polygon::new(outline, colour)])?
                .label(name)
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 16, y + 5)], colour.filled()));
        }
        for (i, (name, points)) in self.lines.into_iter().enumerate() {
            let style = COLOURS[i % COLOURS.len()].stroke_width(2);
            let line = chart.draw_series([PathElement::new(points, style)])?;
            if !name.is_empty() {
                line.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
            }
        }
        for (i, (name, points)) in self.dots.into_iter().enumerate() {
            let style = COLOURS[i % COLOURS.len()].filled();
            chart
                .draw_series(points.into_iter().map(|at| Circle::new(at, 3, style)))?
                .label(name)
                .legend(move |(x, y)| Circle::new((x + 8, y), 3, style));
        }
        let mut labels = chart.configure_series_labels();
        labels.position(self.legend).border_style(BLACK.mix(0.2)).background_style(WHITE).draw()?;
        Ok(())
    }
}
