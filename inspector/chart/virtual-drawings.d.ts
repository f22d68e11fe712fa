declare module 'virtual:drawings' {
  /** Drawings made while the page was built, by the digests of their charts. */
  export const baked: Readonly<Record<string, import('./drawing.ts').Drawing>>;
}
