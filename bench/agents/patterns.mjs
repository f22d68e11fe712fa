/**
 * The ten patterns: the input of a run, its expected result, the person, and the replies of the model. A reply depends only on its request, so
 * that a repeated call gets the same one. `endless` replies as a model that never comes to an end.
 *
 * @typedef {{ text: string } | { json: unknown } | { tool: string, arguments: object, isInvalid?: boolean }} Reply
 * @typedef {{ prompt: string, schema: string, offers: boolean, results: number }} Request `schema` contains that of the reply, `results` is the
 *   number of tool results in the prompt.
 * @typedef {object} Pattern
 * @property {any} input
 * @property {unknown} expected
 * @property {(ended: { output: any, value: unknown }) => unknown} resultOf The result from the output of a machine or the state of a graph.
 * @property {(request: Request) => Reply} reply
 * @property {(request: Request) => Reply} [endless]
 */

const text = (/** @type {string} */ content) => ({ text: content });
const json = (/** @type {unknown} */ value) => ({ json: value });
const call = (/** @type {string} */ tool, /** @type {object} */ args) => ({ tool, arguments: args });

/** The refund that a mail of `refund-approval` leads to. */
const refundIn = (/** @type {string} */ prompt) =>
  prompt.includes('B2') ? { order: 'B2', cents: 90_000 } : { order: 'A7', cents: 12_000 };
const isStep = (/** @type {string} */ prompt, /** @type {string} */ step) => prompt.includes(`Do this now: ${step}`);
const ended = (/** @type {string} */ result, ok = true) => json({ ok, result });

/** @type {Readonly<Record<string, Pattern>>} */
export const PATTERNS = {
  react: {
    input: 'What do two lamps cost?',
    expected: 'Two lamps cost 78 euros.',
    resultOf: ({ output }) => output,
    reply: ({ results }) =>
      [call('search', { query: 'What does a lamp cost?' }), call('calculate', { left: 2, operator: '*', right: 39 })][
        results
      ] ?? text('Two lamps cost 78 euros.'),
    endless: ({ results, offers }) =>
      offers ? call('calculate', { left: results, operator: '+', right: 1 }) : text('I do not know.'),
  },
  'plan-and-execute': {
    input: 'A party',
    expected: [false, true, true],
    resultOf: ({ output }) => output.results.map((/** @type {{ ok: boolean }} */ { ok }) => ok),
    reply: ({ prompt }) => {
      if (isStep(prompt, 'Plan the steps that are left.'))
        return json({ steps: [prompt.includes('taken') ? 'Book the garden' : 'Book the hall', 'Invite 40 guests'] });
      if (isStep(prompt, 'Book the hall')) return ended('The hall is taken.', false);
      return ended(isStep(prompt, 'Book the garden') ? 'The garden is booked.' : '40 guests are invited.');
    },
    endless: ({ prompt }) =>
      isStep(prompt, 'Plan the steps that are left.')
        ? json({ steps: ['Book the hall'] })
        : ended('The hall is taken.', false),
  },
  router: {
    input: 'Where is my invoice?',
    expected: 'Your invoice is on its way.',
    resultOf: ({ output }) => output.reply ?? output,
    reply: ({ prompt, schema }) => {
      if (prompt.includes('invoices and payments')) return text('Your invoice is on its way.');
      return json(schema.includes('billing.chosen') ? { type: 'billing.chosen' } : { specialist: 'billing' });
    },
  },
  'evaluator-optimizer': {
    input: 'Praise a lamp.',
    expected: 'Our lamp saves 40 euros a year.',
    resultOf: ({ output }) => output.text ?? output,
    reply: ({ prompt }) => {
      if (!prompt.includes('Judge this text'))
        return text(prompt.includes('Name a fact.') ? 'Our lamp saves 40 euros a year.' : 'Our lamp is good.');
      return json(
        prompt.includes('40 euros') ? { score: 9, advice: 'Publish it.' } : { score: 3, advice: 'Name a fact.' },
      );
    },
    endless: ({ prompt }) =>
      prompt.includes('Judge this text') ? json({ score: 3, advice: 'Name a fact.' }) : text('Our lamp is good.'),
  },
  'refund-approval': {
    input: 'My lamp arrived broken. Order A7, 120 euros.',
    expected: 'refunded',
    resultOf: ({ output, value }) => output?.status ?? output ?? value,
    reply: ({ prompt, offers, results, schema }) => {
      const refund = refundIn(prompt);
      if (offers) return results === 0 ? call('refund', refund) : text('You have your money back.');
      return json(schema.includes('refund.proposed') ? { type: 'refund.proposed', ...refund } : { refund });
    },
  },
  'map-reduce': {
    input: ['Bees dance.', 'Ants march.', 'Owls hunt.', 'Bats sleep.'],
    expected: 'In short: 4 notes.',
    resultOf: ({ output }) => output.summary,
    reply: ({ prompt }) => {
      const content = prompt.split('\n').at(-1) ?? '';
      return text(
        `In short: ${prompt.includes('Combine') ? `${content.split('In short').length - 1} notes.` : content}`,
      );
    },
  },
  supervisor: {
    input: { goal: 'Explain the dance of bees.', limits: { calls: 20 } },
    expected: { researcher: 'Part researcher.', writer: 'Part writer.' },
    resultOf: ({ output }) => output.results ?? output,
    reply: ({ prompt, schema }) => {
      const last = prompt.slice(prompt.lastIndexOf('{"goal"'));
      if (prompt.includes('You are the worker'))
        return text(`Part ${last.includes('"worker":"researcher"') ? 'researcher' : 'writer'}.`);
      const worker = ['researcher', 'writer'].find((name) => !last.includes(`Part ${name}.`));
      const task = worker === undefined ? null : { worker, task: 'Do your part.' };
      if (!schema.includes('work.asked')) return json({ next: task });
      return json(task === null ? { type: 'work.accepted' } : { type: 'work.asked', ...task });
    },
    endless: ({ prompt, schema }) => {
      const task = { worker: 'researcher', task: 'Do your part.' };
      if (prompt.includes('You are the worker')) return text('Part researcher.');
      return json(schema.includes('work.asked') ? { type: 'work.asked', ...task } : { next: task });
    },
  },
  debate: {
    input: { topic: 'Tests are docs.', rounds: 2 },
    expected: [4, 'pro'],
    resultOf: ({ output }) => [output.speeches.length, output.verdict?.winner],
    reply: ({ prompt }) => {
      if (prompt.includes('Who argues better?')) return json({ winner: 'pro', reason: 'It gave an example.' });
      return text(prompt.includes('Argue for this') ? 'A pro argument.' : 'A contra argument.');
    },
  },
  research: {
    input: { question: 'When can I visit?' },
    expected: { answer: 'Nine.', quotes: ['at nine'] },
    resultOf: ({ output: { answer, quotes } }) => ({ answer, quotes }),
    reply: ({ prompt }) =>
      json(prompt.includes('Rephrase it.') ? { query: 'opens' } : { answer: 'Nine.', quotes: ['at nine'] }),
    endless: ({ prompt }) =>
      json(prompt.includes('Rephrase it.') ? { query: 'opens' } : { answer: 'Ten.', quotes: ['at ten'] }),
  },
  'human-takeover': {
    input: { mail: 'Is the offer still valid?' },
    expected: 'Yes, until Friday.',
    resultOf: ({ output }) => output.reply ?? output,
    reply: ({ prompt }) =>
      json(
        prompt.includes('ends on Friday')
          ? { reply: 'Yes, until Friday.', confidence: 0.9 }
          : { reply: 'Perhaps.', confidence: 0.3 },
      ),
  },
};

/** Another mail of `refund-approval`. */
export const OTHER_MAIL = 'My chair arrived broken. Order B2, 900 euros.';

/** What a person replies to a mail that the model hands over. */
export const NOTE = 'The offer ends on Friday.';
