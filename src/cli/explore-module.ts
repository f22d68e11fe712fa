import { soundness } from '../testing/charts/properties.ts';
import type { Exploration } from '../testing/exploration/exploration.ts';
import { childMachines, EXPLORE_OPTIONS, type ExploreOptions, exploreMachine } from '../testing/exploration/explore.ts';
import { done, fails } from '../testing/exploration/occurrences.ts';
import { ownEvents } from '../testing/exploration/own-events.ts';
import { canAlwaysEnd, noEndlessRetry, noIgnoredDelay } from '../testing/properties/ends.ts';
import type { Property } from '../testing/properties/properties.ts';
import type { ChartModule } from './load-chart-module.ts';

/** An exploration, and what was assumed for it, so that machines can be checked before anyone lists outcomes and events. */
export interface ExploredModule {
  readonly exploration: Exploration;
  readonly assumed: readonly string[];
}

/** Explores the chart of a module. Actors without outcomes end without an output, or fail. */
export function exploreModule(
  chart: ChartModule,
  { onProgress }: Pick<ExploreOptions<ChartModule['machine']>, 'onProgress'> = {},
): ExploredModule {
  const given = Object.fromEntries(
    EXPLORE_OPTIONS.split(' ').flatMap((key) => (key in chart ? [[key, chart[key as keyof ChartModule]]] : [])),
  );
  const children = childMachines(chart, [done(), fails()]);
  const exploration = exploreMachine(chart.machine, { ...given, ...(onProgress && { onProgress }) }, children);
  const names = [...children.level.assumedFor].map(([name, problem]) =>
    problem === '' ? name : `${name} (${problem})`,
  );
  const cutOff = exploration.children.filter((child) => !child.exploration.isComplete).map(({ name }) => name);
  const own = chart.events === undefined ? ownEvents(chart.machine) : [];
  return {
    exploration,
    assumed: [
      ...(cutOff.length === 0
        ? []
        : [`that the outcomes of ${cutOff.join(', ')} are complete, although "depth" cut off their exploration`]),
      ...(names.length === 0
        ? []
        : [`done(undefined) and fails() as the outcomes of ${names.join(', ')}; list the real ones in "outcomes"`]),
      ...(own.length === 0
        ? []
        : [
            `that only ${chart.machine.id} itself sends ${own.join(', ')}; if others do too, list all events in "events"`,
          ]),
    ],
  };
}

/** Returns what can be checked of a machine that nobody has specified, and the properties of its module. */
export function lintProperties({ properties }: Pick<ChartModule, 'properties'>): readonly Property[] {
  const all = [...soundness, canAlwaysEnd, noEndlessRetry, noIgnoredDelay, ...properties];
  // A module may export a list that contains them.
  return [...new Map(all.map((property) => [property.name, property])).values()];
}
