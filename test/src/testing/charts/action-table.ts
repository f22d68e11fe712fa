import type { ActionState } from '../../../../machines/contracts/action-state.ts';
import type { StopReason } from '../../../../machines/contracts/capability.ts';
import { type Row, START } from './held-against.ts';

type ActionRow = Row<ActionState>;

const DECIDING = ['asking', 'thinking'];

/** R3: as many runs as there may be have ended. */
const isAtLimit = ({ runs, maxContinuations }: ActionState): boolean => runs >= maxContinuations;
const canThink = ({ execution: { usage }, maxTokens }: ActionState): boolean =>
  usage.inputTokens + usage.outputTokens < maxTokens;

const endsBy =
  (reason: StopReason) =>
  ({ stopReason }: ActionState): boolean =>
    stopReason === reason;

export const ACTION_TABLE: readonly ActionRow[] = [
  // C8: an attempt reports its usage, which is passed on to the chain.
  { from: ['classifying', 'thinking'], on: /: reports its usage$/, to: ['the same'], by: 'C8' },
  // R1: the request is classified once, unless it is known what to run.
  { from: [START], on: /the first call is given/, to: ['validatingArguments'], by: 'R1, R2' },
  { from: [START], on: /./, to: ['classifying'], by: 'R1' },
  { from: ['classifying'], on: /: a capability$/, to: ['validatingArguments'], by: 'R1, R2' },
  { from: ['classifying'], on: /: an answer$/, to: ['concluded'], so: endsBy('nothing_to_run'), by: 'R1' },
  // R5: what cannot be run ends the loop; of the first step it is a result that failed.
  {
    from: ['classifying'],
    on: /: an unknown capability$/,
    to: ['concluded'],
    so: ({ stopReason, results }) =>
      stopReason === 'invalid_next_step' && results.at(-1)?.code === 'unknown_capability',
    by: 'R5',
  },
  { from: ['classifying'], on: /./, to: ['failed'], so: endsBy('no_reply'), by: 'C4' },

  { from: ['validatingArguments'], on: /: valid$/, to: ['executing'], by: 'R2' },
  {
    from: ['validatingArguments'],
    on: /./,
    when: ({ runs }) => runs === 0,
    to: ['concluded'],
    so: ({ stopReason, results }) => stopReason === 'invalid_next_step' && results.length === 1,
    by: 'R5',
  },
  {
    from: ['validatingArguments'],
    on: /./,
    to: ['concluded'],
    so: ({ stopReason, results, runs }) => stopReason === 'invalid_next_step' && results.length === runs,
    by: 'R5: the last result is returned',
  },

  // R7: whatever came of the run, the decider is asked; R6: where there is one, and where it can be paid.
  { from: ['executing'], on: /./, when: ({ decider }) => decider === 'function', to: ['asking'], by: 'R2, R7' },
  {
    from: ['executing'],
    on: /./,
    when: (state) => state.decider === 'model' && canThink(state),
    to: ['thinking'],
    by: 'R6, R7',
  },
  {
    from: ['executing'],
    on: /./,
    when: ({ decider }) => decider === 'model',
    to: ['concluded'],
    so: endsBy('budget_exhausted'),
    by: 'R3, promise 2',
  },
  { from: ['executing'], on: /./, to: ['concluded'], so: endsBy('no_decider'), by: 'R5' },

  { from: DECIDING, on: /: stop (there|with an output)$/, to: ['concluded'], so: endsBy('done'), by: 'R5' },
  {
    from: DECIDING,
    on: /: (another call|a call of an unknown capability|no next call)$/,
    when: isAtLimit,
    to: ['concluded'],
    so: endsBy('limit_reached'),
    by: 'R3',
  },
  { from: DECIDING, on: /: another call$/, to: ['validatingArguments'], by: 'R2' },
  {
    from: DECIDING,
    on: /: (a call of an unknown capability|no next call)$/,
    to: ['concluded'],
    so: endsBy('invalid_next_step'),
    by: 'R5',
  },
  { from: DECIDING, on: /./, to: ['concluded'], so: endsBy('decider_failed'), by: 'R7' },
];
