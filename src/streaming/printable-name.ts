/** A name in a message is cut off here. */
const MAX_NAME_CHARS = 60;

/** A name as a message can show it: a model may have made it up. */
export function printableName(name: string): string {
  const shown = [...name.slice(0, 10 * MAX_NAME_CHARS).replace(/[\p{C}\p{Z}]+/gu, ' ')];
  return shown.length <= MAX_NAME_CHARS ? shown.join('') : `${shown.slice(0, MAX_NAME_CHARS - 1).join('')}…`;
}
