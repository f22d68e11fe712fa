/**
 * A value as far as it has arrived: every part of it may still be missing, and a text may be cut, one of an enum too. A live,
 * read-only view.
 */
export type DeepPartial<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? readonly DeepPartial<Item>[]
    : T extends object
      ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
      : T;
