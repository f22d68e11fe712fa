import { bm25, keptByPolicy, keptByScore, shareKept } from './kept.mjs';
import { message } from './messages.mjs';

/** Multi-hop questions: do the paragraphs that answer survive if half of the tokens must go? */
export const measure = {
  file: 'multihop',
  /**
   * @param {readonly any[]} rows
   * @param {typeof import('postchain/machines')} policies
   */
  run(rows, policies) {
    const questions = rows.map(({ question, gold, messages: paragraphs }) => {
      const messages = paragraphs.map((/** @type {any} */ { id, title, text }) =>
        message({ id, content: `${title}\n${text}`, source: { path: title, startLine: 1, endLine: 1 } }),
      );
      const tokens = paragraphs.map((/** @type {any} */ { text }) => text.length / 4);
      const size = tokens.reduce((/** @type {number} */ sum, /** @type {number} */ one) => sum + one, 0);
      return { request: question, gold, messages, tokens, tokensAllowed: size / 2 };
    });
    return [
      {
        measure: 'retention_paragraphs_half',
        value: shareKept(questions, (question) => keptByPolicy(question, policies)),
        unit: 'gold paragraphs kept',
        atLeast: 0.85,
        rows: questions.length,
        baselines: { BM25: shareKept(questions, (question) => keptByScore(question, bm25(question))) },
      },
    ];
  },
};
