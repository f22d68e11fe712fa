import type { TokenUsage, Usage } from '../../../machines/contracts/usage.ts';
import type { SpanBook } from './span-book.ts';
import type { Facts, OpenSpan } from './spans.ts';

type Tokens = Pick<TokenUsage, 'inputTokens' | 'outputTokens'>;

/**
 * The tokens of a run's model calls. What a call used that was broken off stands nowhere but in the total of its run: what is left of
 * that is measured at the end, for all such calls together, so that the measurements add up to the total.
 */
export function createTokenTotals(book: SpanBook) {
  let input = 0;
  let output = 0;
  const lost: OpenSpan[] = [];

  function measure(span: OpenSpan, { inputTokens, outputTokens }: Tokens, facts: Facts): void {
    book.measure('tokens', span, inputTokens, { ...facts, 'gen_ai.token.type': 'input' });
    book.measure('tokens', span, outputTokens, { ...facts, 'gen_ai.token.type': 'output' });
  }

  return {
    add(span: OpenSpan, usage: TokenUsage): void {
      input += usage.inputTokens;
      output += usage.outputTokens;
      measure(span, usage, {});
    },
    lose: (span: OpenSpan): void => void lost.push(span),
    settle({ inputTokens, outputTokens }: Usage): void {
      const [first] = lost;
      if (first === undefined) return;
      const left = { inputTokens: Math.max(0, inputTokens - input), outputTokens: Math.max(0, outputTokens - output) };
      measure(first, left, { 'postchain.broken_off': true, ...commonModel(lost) });
    },
  };
}

/** Of calls of several models it is not known who used what. */
function commonModel(spans: readonly OpenSpan[]): Facts {
  const names = ['gen_ai.provider.name', 'gen_ai.request.model'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const isShared = spans.every(({ shared }) => shared[name] === spans[0]?.shared[name]);
      return isShared ? [] : [[name, name === 'gen_ai.provider.name' ? '_OTHER' : undefined]];
    }),
  );
}

export type TokenTotals = ReturnType<typeof createTokenTotals>;
