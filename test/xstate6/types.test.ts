import { beforeAll, expect, expectTypeOf, it } from 'vitest';
import { createActor, setup, types } from 'xstate6';
import {
  type ApprovalDecision,
  approval,
  createDurableMachine,
  fromDurable,
  memoryJournals,
} from '../../src/entries/durable.ts';
import { fromXState6, hostXState6, toXState6 } from '../../src/entries/xstate6.ts';

beforeAll(() => hostXState6({ createActor }));

const journals = memoryJournals();

it('an approval and a child process have their types in `actors` of XState 6', async () => {
  const kid = setup({ schemas: { output: types<number>() } }).createMachine({
    id: 'kid',
    initial: 'done',
    states: { done: { type: 'final' } },
    output: () => 7,
  });
  const kids = createDurableMachine(fromXState6(kid), { journals });
  const desk = setup({
    schemas: { context: types<{ decision: string; result: number }>() },
    actors: { approval: toXState6(approval), kid: toXState6(fromDurable(kids)) },
  }).createMachine({
    id: 'desk',
    context: { decision: '', result: 0 },
    initial: 'asking',
    states: {
      asking: {
        invoke: {
          src: 'approval',
          input: { question: 'Refund?' },
          onDone: ({ event }) => {
            expectTypeOf(event.output).toEqualTypeOf<ApprovalDecision>();
            return { target: 'working', context: { decision: event.output.decision, result: 0 } };
          },
        },
      },
      working: { type: 'final' },
    },
  });
  const desks = createDurableMachine(fromXState6(desk), { journals });
  const actor = await desks.open('d');
  const [open] = actor.pending.approvals;
  await actor.send({ type: 'approval.given', id: open?.id, digest: open?.digest, decision: 'deny' } as never);
  expect(actor.getSnapshot()).toMatchObject({ value: 'working', context: { decision: 'deny' } });
});
