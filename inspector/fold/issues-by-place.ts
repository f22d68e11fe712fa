import type { Failure } from '../../machines/contracts/failure.ts';

/** What is wrong at a place of a reply, by its path: `items.2.price`, whether it was written so or as `items[2].price`. */
export interface Issues {
  /** What is wrong with the whole. */
  readonly whole: readonly string[];
  at(path: string): readonly string[];
  /** Places that a path leads to, or around, for which nothing is shown: told at the nearest that is. */
  within(path: string): readonly { readonly path: string; readonly message: string }[];
}

const NONE: readonly never[] = [];

export function issuesByPlace(issues: Failure['issues']): Issues {
  const byPath = new Map<string, string[]>();
  for (const { path, message } of issues) {
    const place = plainPath(path);
    byPath.set(place, [...(byPath.get(place) ?? []), message]);
  }
  return {
    whole: byPath.get('') ?? NONE,
    at: (path) => byPath.get(path) ?? NONE,
    within: (path) =>
      [...byPath].flatMap(([place, messages]) =>
        place.startsWith(`${path}.`) ? messages.map((message) => ({ path: place, message })) : [],
      ),
  };
}

const plainPath = (path: string): string =>
  path
    .replace(/\[(?:"([^"]*)"|'([^']*)'|([^\]]*))\]/gu, (_, one = '', other = '', bare = '') => `.${one}${other}${bare}`)
    .replace(/^\./u, '');
