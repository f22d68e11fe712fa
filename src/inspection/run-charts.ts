import { actionMachine } from '../../machines/action/action.machine.ts';
import { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../machines/chain/chain.machine.ts';
import { chartOf } from '../engine/charts/chart.ts';
import type { RunCharts } from './wire.ts';

let known: RunCharts | null = null;

/** The charts that runs of PostChain go through. */
export function runCharts(): RunCharts {
  known ??= {
    charts: [chainMachine, attemptMachine, actionMachine].map(chartOf),
    invoked: { attempt: attemptMachine.id, action: actionMachine.id },
  };
  return known;
}
