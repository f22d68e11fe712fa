/** What was thrown, in a line: of an error the first of its message. */
export const firstLineOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown);
