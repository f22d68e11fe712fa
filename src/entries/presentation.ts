/** The final answer as plain text, Markdown, or JSON. */
export { answerAsMarkdown } from '../chain/presentation/answer-as-markdown.ts';
export {
  answerAsJson,
  answerAsText,
  type JsonOptions,
  type TextOptions,
  type TextStyle,
} from '../chain/presentation/answer-as-text.ts';
