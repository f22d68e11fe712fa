import type { ChatModel, Round } from 'postchain/agents';

/** Replaces the language model if no API key is set. It only looks for the id of an order, or quotes a document. */
export const demoModel: ChatModel = {
  id: 'demo',
  contextWindowTokens: 100_000,
  async *stream({ input }) {
    const { given, rounds } = input as { readonly given: string; readonly rounds: readonly Round[] };
    yield { type: 'text-delta', text: JSON.stringify(replyTo(given, rounds[0]?.calls[0])) };
    yield { type: 'finish', reason: 'stop', usage: null };
  },
};

function replyTo(request: string, result: Round['calls'][number] | undefined) {
  const id = /\border (\w+)/iu.exec(request)?.[1] ?? null;
  if (result === undefined) {
    const [tool, args] = id === null ? ['search_documents', { query: request }] : ['find_order', { id }];
    return { answer: null, calls: [{ tool, arguments: JSON.stringify(args) }] };
  }
  const refund = result.success && /\brefund/iu.test(request) ? id : null;
  return { answer: { text: result.output, refund }, calls: [] };
}
