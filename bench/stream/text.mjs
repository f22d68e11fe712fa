import { strict as assert } from 'node:assert';

const CHUNK_CHARS = 4;

/**
 * Returns the JSON of a Yield reply that contains a long report, about that many characters, the same each time. It has strings with
 * escapes and non-ASCII characters, numbers, booleans, null, arrays and objects.
 *
 * @param {number} chars
 */
export function longReply(chars) {
  const reply = {
    answer: 'The report below answers the request.',
    confidence: 0.95,
    taskComplete: true,
    informationSufficiency: 1,
    needsTools: false,
    proposedPhase: null,
    rationale: 'everything is in the report',
    usedMessageIds: ['request'],
    sections: /** @type {unknown[]} */ ([]),
  };
  let length = JSON.stringify(reply).length;
  for (let at = 1; length < chars; at += 1) {
    const section = sectionOf(at);
    reply.sections.push(section);
    length += JSON.stringify(section).length + 1;
  }
  return JSON.stringify(reply);
}

/** @param {number} at */
function sectionOf(at) {
  return {
    id: `section-${at}`,
    title: `Part ${at}: what "bounded" means – and costs`,
    text: `Trial ${at} ran for ${at % 60} minutes.\nEach message was tried ${at % 7} times, then set aside; the lag stayed under ${at * 3} ms, as in § ${at % 12}.`,
    score: (at % 100) / 100,
    settled: at % 3 === 0,
    next: at % 5 === 0 ? null : `section-${at + 1}`,
    tags: ['queue', 'retry', `t${at % 10}`],
  };
}

/** Yields the text in chunks of four characters, without delay. */
export async function* chunks(/** @type {string} */ text) {
  for (let at = 0; at < text.length; at += CHUNK_CHARS) yield text.slice(at, at + CHUNK_CHARS);
}

/**
 * Measures microseconds to read a long reply, and the partial values read per chunk. Asserts that the final value is the reply.
 *
 * @param {number} chars
 * @param {(text: string, reader: ReturnType<typeof createReader>) => Promise<unknown>} read Returns the final value.
 */
export async function measureReading(chars, read) {
  const text = longReply(chars);
  const reader = createReader();
  const startedAt = performance.now();
  const value = await read(text, reader);
  const microseconds = (performance.now() - startedAt) * 1000;
  assert.deepEqual(value, JSON.parse(text));
  return { microseconds, share: reader.partials / Math.ceil(text.length / CHUNK_CHARS) };
}

/** Reads part of every partial value, like a page that shows the newest section. */
export function createReader() {
  let partials = 0;
  let seen = 0;
  return {
    read(/** @type {unknown} */ value) {
      partials += 1;
      const { sections } = /** @type {{ sections?: { text?: string }[] }} */ (value ?? {});
      seen += sections?.at(-1)?.text?.length ?? 0;
    },
    get partials() {
      if (partials > 1 && seen === 0) throw new Error('the partial values held no section');
      return partials;
    },
  };
}
