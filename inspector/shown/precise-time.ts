/** With a tenth of a millisecond below a second, and with milliseconds beyond. */
export const preciseTime = (ms: number): string =>
  ms < 1_000 ? `${ms.toFixed(1)} ms` : `${(ms / 1_000).toFixed(3)} s`;
