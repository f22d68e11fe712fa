import { describe, expect, it } from 'vitest';
import type { Message } from '../../../machines/contracts/message.ts';
import { assistantMessage, retentionPlan, searchMessage, userMessage } from '../../support/retention.ts';

describe('10,000 messages', () => {
  /** A context whose messages count how often they are read. */
  function watched(count: number) {
    let readings = 0;
    const messages = Array.from({ length: count }, (_, at): Message => {
      const make = [userMessage, searchMessage, assistantMessage][at % 3] ?? userMessage;
      const message = make(`m${at}`, '', { references: at % 7 === 0 ? [`m${at + 1}`] : [] });
      const content = `Note ${at} of the harbour, with ${(at * 7_919) % 997} boats and ${(at * 104_729) % 991} gulls.`;
      return Object.defineProperty(message, 'content', {
        get: () => {
          readings += 1;
          return content;
        },
      });
    });
    return { messages, readings: () => readings };
  }

  it.each([
    [200, 100_000],
    [1, 100_000],
    [20_000, 0],
  ])(
    '[U14] are read as often as 1,000 are, per message, for limits of %d messages and %d tokens',
    (maxMessages, tokensAllowed) => {
      const readingsEach = (count: number) => {
        const { messages, readings } = watched(count);
        retentionPlan(messages, { tokens: messages.map(() => 20), maxMessages, tokensAllowed });
        return readings() / count;
      };
      const few = readingsEach(1_000);
      expect(few).toBeGreaterThan(1);
      expect(readingsEach(10_000)).toBeLessThanOrEqual(few * 1.2);
    },
  );
});
