import type { AttemptInput, AttemptOutcome } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { Phase } from '../contracts/phase.ts';
import type { CompletingRule } from '../policies/decisions.ts';
import { overdue } from '../policies/outcomes.ts';
import { attemptPolicy, executionId, phaseInput } from '../policies/phase-input.ts';

type Done = { readonly event: { readonly output: AttemptOutcome } };
type Broken = { readonly event: { readonly error: unknown } };
type Context = { readonly context: ChainState };
type Take = 'takePhase' | 'takeEvaluation' | 'takeAssessment';

/** What every phase says as it begins. */
export const begin = (phase: Phase) => ['enterPhase' as const, { type: 'announcePhase' as const, params: { phase } }];

/** What every phase says as it ends. */
export const end = (phase: Phase) => [
  { type: 'announceEnd' as const, params: { phase } },
  { type: 'announceOperations' as const, params: { phase } },
];

/** The phase's model call through the attempt machine. */
export const think = (phase: Phase) => ({
  src: 'attempt' as const,
  input: ({ context }: Context): AttemptInput => ({
    id: executionId(context, phase),
    task: phase,
    input: phaseInput(context, phase),
    policy: attemptPolicy(context),
  }),
});

/** On to `target` with a validated value, to `recovering` without one. */
export const settle = (phase: Phase, target: string, take: Take = 'takePhase') => {
  const params = ({ event }: Done) => ({ phase, outcome: event.output });
  const failed = { type: 'announceEnd' as const, params: { phase } };
  return [
    {
      guard: { type: 'phaseSucceeded' as const, params: ({ event }: Done) => event.output },
      target,
      actions: take === 'takeEvaluation' ? [{ type: take, params }] : [{ type: take, params }, ...end(phase)],
    },
    { target: '#recovering', actions: [{ type: take, params }, failed] },
  ];
};

/** A bug or a port that threw: a failed phase, not a crashed run. */
export const onBroken = (phase: Phase) => ({
  target: '#recovering',
  actions: [
    { type: 'breakPhase' as const, params: ({ event }: Broken) => ({ phase, error: event.error }) },
    { type: 'announceEnd' as const, params: { phase } },
  ],
});

/** A phase over its deadline is a failed phase, not a hung run [C8]. */
export const onDeadline = (phase: Phase) => ({
  phaseDeadline: {
    target: '#recovering',
    actions: [
      {
        type: 'takeBrokenOff' as const,
        params: ({ context }: Context) => ({ cause: overdue(context, phase) }),
      },
      { type: 'timeOutPhase' as const, params: { phase } },
    ],
  },
});

type Stopped = { readonly event: { readonly reason?: string | undefined } };

/** The user or the host stops the run: the answer is composed from what there is. */
export const onStopped = (
  kind: 'cancelled' | 'interrupted',
  target: string,
  charge: ReturnType<typeof brokenOff> | 'breakOffSynthesis' = brokenOff(`the run was ${kind}`),
) => ({
  target,
  actions: [
    charge,
    { type: 'interrupt' as const, params: ({ event }: Stopped) => ({ kind, reason: event.reason ?? '' }) },
  ],
});

/** The cycle completes by a rule: the answer is written next. */
export const completeBy = (rule: CompletingRule) => ({
  guard: rule,
  target: '#synthesizing',
  actions: [{ type: 'complete' as const, params: { rule } }, 'announceDecision' as const],
});

/** The next cycle begins with this phase. */
export const goOnWith = (phase: Phase) => ({
  guard: { type: 'nextPhaseIs' as const, params: { phase } },
  target: `#${phase}`,
  actions: [
    { type: 'goOn' as const, params: { rule: 'nextPhaseChosen' as const, phase } },
    'announceDecision' as const,
  ],
});

/** One edge a phase, to where the origin, the user or a recovery points. */
export const routeTo = (phase: Phase) => ({
  guard: { type: 'directedTo' as const, params: { phase } },
  target: `#${phase}`,
});

/** The change stays as it was counted by words. */
export const leaveUncompared = { type: 'takeChange' as const, params: { change: null } };

/** What was under way is broken off, and why. */
export function brokenOff(cause: string) {
  return { type: 'takeBrokenOff' as const, params: { cause } };
}
