import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { colorsFor } from './screen.ts';

export type AnswerFormat = 'text' | 'markdown' | 'json';

const MAX_COLUMNS = 120;

/** Text uses the colors and width of the terminal, if stdout is one. */
export async function rendererFor(
  format: AnswerFormat,
  stdout: NodeJS.WriteStream,
): Promise<(answer: FinalAnswer) => string> {
  switch (format) {
    case 'text': {
      const { answerAsText } = await import('../chain/presentation/answer-as-text.ts');
      const { bold, dim, yellow } = colorsFor(stdout);
      const style = { heading: bold, aside: dim, warning: yellow };
      const columns = (): number => (stdout.isTTY ? Math.min(stdout.columns || 80, MAX_COLUMNS) : Infinity);
      return (answer) => answerAsText(answer, { columns: columns(), style });
    }
    case 'markdown':
      return (await import('../chain/presentation/answer-as-markdown.ts')).answerAsMarkdown;
    case 'json': {
      const { answerAsJson } = await import('../chain/presentation/answer-as-text.ts');
      return (answer) => answerAsJson(answer, { pretty: true });
    }
    default:
      return format satisfies never;
  }
}
