interface Place<State> {
  readonly key: string;
  readonly parent: State | null;
  readonly children: ReadonlyMap<string, State>;
}

/** The state that a transition names: `#id`, `#id.below`, `.child`, `sibling`, `sibling.below`. Null where there is none. */
export function targetOf<State extends Place<State>>(
  source: State,
  target: string,
  byId: ReadonlyMap<string, State>,
): State | null {
  if (target.startsWith('#')) {
    const [id = '', ...below] = pathOf(target.slice(1));
    return byId.get(target.slice(1)) ?? descend(byId.get(id), below);
  }
  if (target.startsWith('.')) return descend(source, pathOf(target.slice(1)));
  return source.parent && descend(source.parent, pathOf(target));
}

function descend<State extends Place<State>>(from: State | undefined, path: readonly string[]): State | null {
  let state = from;
  for (const key of path) state = state?.children.get(key);
  return state ?? null;
}

/** Points part the keys; a point behind a backslash belongs to its key. */
function pathOf(target: string): readonly string[] {
  return (target.match(/(?:\\.|[^.\\])+/gu) ?? []).map((key) => key.replace(/\\(.)/gu, '$1'));
}
