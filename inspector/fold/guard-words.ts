/** `confidenceReached` as `confidence reached`. What is no name in one word stays as it is. */
export function namedInWords(name: string): string {
  if (!/^[A-Za-z][A-Za-z0-9]*$/u.test(name)) return name;
  return name.replace(/([a-z0-9])([A-Z])/gu, (_, before: string, next: string) => `${before} ${next.toLowerCase()}`);
}

/** A guard with its parameters: `nextPhaseIs(action)` as `next phase is action`. */
export function guardInWords(guard: string): string {
  const [, name, parameters] = /^([A-Za-z][A-Za-z0-9]*)\((.*)\)$/su.exec(guard) ?? [];
  return name === undefined ? namedInWords(guard) : `${namedInWords(name)} ${parameters ?? ''}`;
}
