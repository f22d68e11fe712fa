/**
 * Returns a paragraph of the data in the form the engine gathers: the title is the first line.
 *
 * @typedef {{ id: string, title: string, text: string }} Paragraph
 * @typedef {{ id: string, content: string }} Gathered
 * @param {Paragraph} paragraph
 * @returns {Gathered}
 */
export function gathered({ id, title, text }) {
  return { id, content: `${title}\n${text}` };
}

/**
 * Returns how far the texts suffice to answer a question, 0..1, by the default grader.
 *
 * @param {string} request
 * @param {readonly Gathered[]} evidence
 * @param {typeof import('postchain/machines')} policies
 */
export function sufficiencyOf(request, evidence, { gradeByDefault }) {
  return gradeByDefault({ request, answer: '', rationale: '', claimsCompletion: false, evidence, dialogue: [] })
    .sufficiency;
}

/**
 * The baseline: the share of a question's words, without common words, that appear in the texts.
 *
 * @param {string} question
 * @param {readonly Gathered[]} texts
 */
export function wordCoverage(question, texts) {
  const asked = [...words(question)].filter((word) => !COMMON.has(word));
  const there = words(texts.map(({ content }) => content).join('\n'));
  return asked.length === 0 ? 0 : asked.filter((word) => there.has(word)).length / asked.length;
}

const words = (/** @type {string} */ text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

const COMMON = new Set(
  `a an and are as at be by did do does for from had has have how in is it its of on or that the their there this to was were what
  when where which who whom whose why will with`.split(/\s+/),
);
