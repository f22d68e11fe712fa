/** Formats a state value as its innermost active states, by their paths: `editing.title and saving`. */
export const stateText = (value: unknown): string => leavesOf(value ?? '').join(' and ');

const leavesOf = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : Object.entries(Object(value)).flatMap(([name, inner]) => {
        const below = leavesOf(inner);
        return below.length === 0 ? [name] : below.map((leaf) => `${name}.${leaf}`);
      });
