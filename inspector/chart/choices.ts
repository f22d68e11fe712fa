import type { Place } from '../fold/marks.ts';
import { placeOf, type Scene, type SceneChart, type SceneLine, type SceneState } from './scene.ts';

/** What a person chose in the picture. */
export type Choice =
  | ({ readonly kind: 'state' } & Place)
  | { readonly kind: 'transitions'; readonly chartId: string; readonly transitions: readonly number[] };

/** What stands under a click: a state, or the transitions of a line. */
export function choiceAt(scene: Scene, target: EventTarget | null): Choice | null {
  const element = target instanceof Element ? target.closest('[data-state], [data-cover], [data-line]') : null;
  if (element === null) return null;
  const numberOf = (name: string): number => Number(element.getAttribute(`data-${name}`) ?? -1);
  const line = scene.lines[numberOf('line')];
  if (line !== undefined)
    return {
      kind: 'transitions',
      chartId: scene.charts[line.chart]?.chartId ?? '',
      transitions: line.transitions,
    };
  const state = scene.states[Math.max(numberOf('state'), numberOf('cover'))];
  if (state === undefined) return null;
  return { kind: 'state', ...placeOf(scene, state) };
}

export function isChosenState(chosen: Choice | null): (state: SceneState, chart: SceneChart) => boolean {
  if (chosen === null || chosen.kind !== 'state') return () => false;
  const { chartId, stateId } = chosen;
  return ({ drawn }, chart) => drawn.id === stateId && chart.chartId === chartId;
}

export function isChosenLine(chosen: Choice | null): (line: SceneLine, chart: SceneChart) => boolean {
  if (chosen === null || chosen.kind !== 'transitions') return () => false;
  const wanted = new Set(chosen.transitions);
  return ({ transitions }, { chartId }) => chartId === chosen.chartId && transitions.some((one) => wanted.has(one));
}

/** The number of the state that a click or a key is about. */
export function stateAt(target: EventTarget | null): number | null {
  const element = target instanceof Element ? target.closest('[data-state], [data-cover]') : null;
  const number = element?.getAttribute('data-state') ?? element?.getAttribute('data-cover') ?? null;
  return number === null ? null : Number(number);
}
