import { generate } from 'postchain/agents';
import { scriptedModel } from 'postchain/testing';
import { assign, createActor, enqueueActions, setup, toPromise } from 'xstate';

type Reading = { readonly texts: readonly string[]; readonly notes: Readonly<Record<string, string | null>> };
type Note = readonly [id: string, note: string | null];
const notesText = ({ texts, notes }: Reading) => texts.flatMap((_, at) => notes[`text${at + 1}`] ?? []).join(' ');
// With a real model: openaiModel({ model: 'gpt-4.1-mini' }).
export const model = scriptedModel(({ turns }) => ({ text: `In short: ${turns.at(-1)?.content.split('\n')[1]}` }));

export const machine = setup({
  types: { input: {} as string[], context: {} as Reading & { readonly summary: string | null } },
  actors: {
    takeNote: generate({ model, name: 'note', prompt: (text: string) => `Summarize in one sentence:\n${text}` }),
    combine: generate({ model, name: 'summary', prompt: (all: Reading) => `Combine:\n${notesText(all)}` }),
  },
  guards: {
    allRead: ({ context: { texts, notes } }) => Object.keys(notes).length === texts.length,
    allReadInVain: ({ context: { texts, notes } }) => texts.every((_, at) => notes[`text${at + 1}`] === null),
  },
  actions: {
    readTexts: enqueueActions(({ context, enqueue }) => {
      for (const [at, input] of context.texts.entries()) enqueue.spawnChild('takeNote', { id: `text${at + 1}`, input });
    }),
    keepNote: assign({ notes: ({ context }, [id, note]: Note) => ({ ...context.notes, [id]: note }) }),
  },
}).createMachine({
  id: 'mapReduce',
  context: ({ input }) => ({ texts: input, notes: {}, summary: null }),
  output: ({ context: { summary, notes } }) => ({ summary, notes }),
  initial: 'mapping',
  states: {
    mapping: {
      description: 'A model call for each text, all at the same time. One that fails leaves null.',
      entry: 'readTexts',
      on: {
        'xstate.done.actor.*': { actions: { type: 'keepNote', params: ({ event: e }) => [e['actorId'], e['output']] } },
        'xstate.error.actor.*': { actions: { type: 'keepNote', params: ({ event: e }) => [e['actorId'], null] } },
      },
      always: [
        { guard: 'allReadInVain', target: 'failed' },
        { guard: 'allRead', target: 'reducing' },
      ],
    },
    reducing: {
      description: 'The model combines the notes.',
      invoke: {
        src: 'combine',
        input: ({ context }) => context,
        onDone: { target: 'combined', actions: assign({ summary: ({ event }) => event.output }) },
        onError: 'failed',
      },
    },
    combined: { description: 'A summary of all notes.', type: 'final' },
    failed: { description: 'No text could be read, or there is no summary.', type: 'final' },
  },
});

if (process.argv[1] === import.meta.filename)
  console.log(await toPromise(createActor(machine, { input: ['Bees dance.', 'Ants march.'] }).start()));
