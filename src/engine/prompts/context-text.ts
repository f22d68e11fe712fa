import type { Message } from '../../../machines/contracts/message.ts';
import type { Passage } from '../../../machines/contracts/passage.ts';

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
      block(
        'passage',
        `id="${attribute(id)}" lines="${source.startLine}-${source.endLine}"`,
        [...heading, text].join('\n'),
      ),
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
  const where = source === null ? '' : ` source="${attribute(source.path)}:${source.startLine}-${source.endLine}"`;
  return `id="${attribute(id)}" role="${role}"${phase === null ? '' : ` phase="${phase}"`}${where}`;
}

/** A value between quotes: nothing in it can end them, or the tag. */
function attribute(value: string): string {
  return value.replace(/[<>"&\s]+/g, (found) => (/[<>"&]/.test(found) ? '_' : ' '));
}

/** Text of a phase in a block of its own, so that it is told from what is asked. */
export function noteText(name: string, content: string): string {
  return block('note', `from="${attribute(name)}"`, content);
}

/** A message that is to be summarised, in a block of its own. */
export function textBlock(id: string, content: string): string {
  return block('message', `id="${attribute(id)}"`, content);
}

const TAG = /<(?=\s*\/?\s*(?:message|passage|note)\b)/gi;

function block(name: string, attributeText: string, content: string): string {
  return `<${name} ${attributeText}>\n${content.replace(TAG, '< ')}\n</${name}>`;
}
