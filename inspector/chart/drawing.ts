/** Where a chart is drawn: what layout makes of it, once, and all that the picture needs. Lengths are CSS pixels at scale 1. */
export interface Drawing {
  readonly chartId: string;
  readonly width: number;
  readonly height: number;
  /** What holds anywhere in it. */
  readonly chips: readonly Chip[];
  /** Outer states before their inner ones; the root of the chart is not among them. */
  readonly states: readonly DrawnState[];
  readonly edges: readonly DrawnEdge[];
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A state, in the coordinates of its chart. */
export interface DrawnState extends Box {
  readonly id: string;
  readonly name: string;
  readonly parent: string | null;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly description: string;
  /** The actors that run in it, where none of them is a chart that is drawn inside it; else empty. */
  readonly note: string;
  /** The state that its parent begins with. */
  readonly isInitial: boolean;
  readonly chips: readonly Chip[];
  /** The chart that runs inside it, drawn smaller; null where nothing with a chart does. */
  readonly inset: Inset | null;
}

export interface Inset extends Pick<Box, 'x' | 'y'> {
  readonly chartId: string;
  readonly scale: number;
}

/** Edges that would tangle the picture, told in words in the state that they leave: `else → recovering`. */
export interface Chip extends Box {
  readonly labels: readonly string[];
  readonly target: string;
  readonly targetName: string;
  /** The transitions that it stands for, by their places in the chart. */
  readonly transitions: readonly number[];
}

/** All transitions between two states, as one line. */
export interface DrawnEdge {
  readonly source: string;
  readonly target: string;
  readonly labels: readonly string[];
  /** Each of them is an event from outside, a time-out or an error. */
  readonly dashed: boolean;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly label: Box | null;
  readonly transitions: readonly number[];
}
