import { retentionOf } from './kept.mjs';
import { message } from './messages.mjs';

/** Multi-hop questions: do the paragraphs that answer survive if half of the tokens must go? */
export const measure = {
  file: 'multihop',
  /**
   * @param {readonly any[]} rows
   * @param {typeof import('postchain/machines')} policies
   */
  run(rows, policies) {
    const questions = rows.map(({ source, question, gold, messages: paragraphs }) => {
      const messages = paragraphs.map((/** @type {any} */ { id, title, text }) =>
        message({ id, content: `${title}\n${text}`, source: { path: title, startLine: 1, endLine: 1 } }),
      );
      const tokens = paragraphs.map((/** @type {any} */ { text }) => text.length / 4);
      const size = tokens.reduce((/** @type {number} */ sum, /** @type {number} */ one) => sum + one, 0);
      return { source: source ?? 'all', request: question, gold, messages, tokens, tokensAllowed: size / 2 };
    });
    return [{ measure: 'retention_paragraphs_half', ...retentionOf(questions, policies), atLeast: 0.85 }];
  },
};
