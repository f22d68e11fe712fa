import type { Message } from '../../machines/contracts/message.ts';
import type { Passage } from '../../machines/contracts/passage.ts';

/**
 * Messages and passages as text for a prompt. Each stands in a block of its own with its id; what looks like the end of a block
 * within a text is broken up, so that no text can leave its block [promise 8].
 */
export function messagesText(messages: readonly Message[]): string {
  if (messages.length === 0) return '(nothing yet)';
  return messages.map(messageBlock).join('\n');
}

export function passagesText(passages: readonly Passage[]): string {
  if (passages.length === 0) return '(nothing was found)';
  return passages
    .map(({ id, source, heading, text }) =>
      block('passage', `id="${id}" lines="${source.startLine}-${source.endLine}"`, [...heading, text].join('\n')),
    )
    .join('\n');
}

/** A message never changes, so its block is written once. */
const blocks = new WeakMap<Message, string>();

function messageBlock(message: Message): string {
  const known = blocks.get(message);
  if (known !== undefined) return known;
  const written = block('message', attributes(message), message.content);
  blocks.set(message, written);
  return written;
}

function attributes({ id, role, phase, source }: Message): string {
  const where = source === null ? '' : ` source="${source.path}:${source.startLine}-${source.endLine}"`;
  return `id="${id}" role="${role}"${phase === null ? '' : ` phase="${phase}"`}${where}`;
}

function block(name: string, attributeText: string, content: string): string {
  return `<${name} ${attributeText}>\n${content.replaceAll(`</${name}`, `< /${name}`)}\n</${name}>`;
}
