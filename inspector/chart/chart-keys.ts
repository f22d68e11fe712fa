import type { Scene } from './scene.ts';

/** The state that an arrow key leads to: its parent, its first child, or the state before or behind it; itself where there is none. */
export function stateBeside(scene: Scene, from: number, key: string, collapsed: ReadonlySet<number>): number {
  const state = scene.states[from];
  if (state === undefined) return 0;
  const siblings =
    state.parent === null
      ? [...scene.states.keys()].filter((number) => scene.states[number]?.parent === null)
      : (scene.states[state.parent]?.children ?? []);
  const place = siblings.indexOf(from);
  switch (key) {
    case 'ArrowLeft':
      return state.parent ?? from;
    case 'ArrowRight':
      return collapsed.has(from) ? from : (state.children[0] ?? from);
    case 'ArrowUp':
      return siblings[place - 1] ?? from;
    case 'ArrowDown':
      return siblings[place + 1] ?? from;
    case 'Home':
      return siblings[0] ?? from;
    case 'End':
      return siblings.at(-1) ?? from;
    default:
      return from;
  }
}

/** The innermost state that is seen of those around a state: itself, unless something around it is closed. */
export function seenState(scene: Scene, number: number, collapsed: ReadonlySet<number>): number {
  let seen = number;
  for (let at = scene.states[number]?.parent ?? null; at !== null; at = scene.states[at]?.parent ?? null)
    if (collapsed.has(at)) seen = at;
  return seen;
}

/** Whether a state is another one, or one of those around it. */
export function isAround(scene: Scene, outer: number, inner: number | null): boolean {
  for (let at = inner; at !== null; at = scene.states[at]?.parent ?? null) if (at === outer) return true;
  return false;
}

/** By how much an arrow key moves the picture, in pixels. */
export const PAN_KEYS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [60, 0],
  ArrowRight: [-60, 0],
  ArrowUp: [0, 60],
  ArrowDown: [0, -60],
};
