import { decide } from 'postchain/agents';
import { alwaysEventually, describeFinding, explore, findingsOf, scriptedModel, soundness } from 'postchain/testing';
import { raise, setup } from 'xstate';
import * as z from 'zod';

const route = decide({ model: scriptedModel({}), events: { refund: z.object({}), escalate: z.object({}) } });
const desk = setup({ actors: { route } }).createMachine({
  initial: 'routing',
  states: {
    routing: {
      invoke: {
        src: 'route',
        input: 'A mail',
        onDone: { actions: raise(({ event }) => event.output) },
        onError: 'closed',
      },
      on: { refund: 'closed', escalate: 'waiting' },
    },
    waiting: {},
    closed: { type: 'final' },
  },
});

const ends = alwaysEventually('an end', ({ status }) => status === 'done');
for (const finding of findingsOf(explore(desk), [...soundness, ends]))
  if (finding.witness !== null) console.log(describeFinding(finding));
