interface Size {
  readonly width: number;
  readonly height: number;
}

/** What it takes to show a box in a place of these proportions; lower is better. */
export function fitScore({ width, height }: Size, aspect: number): number {
  return Math.max(width / aspect, height) + (width / aspect + height) * 0.1;
}
