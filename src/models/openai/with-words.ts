import type { ChatTurn } from '../../../machines/contracts/model.ts';

/** Whether a text stands in one of the turns already. */
export function isTold(turns: readonly ChatTurn[], text: string): boolean {
  return turns.some(({ content }) => content.includes(text));
}

/** The turns and these words: in the first system turn, as many chat templates take only one. */
export function withWords(turns: readonly ChatTurn[], words: string): ChatTurn[] {
  const [first, ...rest] = turns;
  if (first?.role !== 'system') return [{ role: 'system', content: words }, ...turns];
  return [{ role: 'system', content: `${first.content}\n\n${words}` }, ...rest];
}
