import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { clipped } from '../../../machines/text/clipped.ts';

const MAX_WORD_CHARS = 200;

/**
 * A tool's result as text: its texts, one after the other; other parts told in words, never with their bytes. Where there is no
 * text, its structured content as JSON.
 */
export function resultText({ content, structuredContent }: CallToolResult): string {
  const isStructured = structuredContent !== undefined && !content.some(({ type }) => type === 'text');
  return [...content.map(partText), ...(isStructured ? [JSON.stringify(structuredContent)] : [])].join('\n');
}

function partText(part: ContentBlock): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return told(part.type, part.mimeType, bytesOf(part.data));
    case 'resource_link':
      return told('link to a resource', part.name, part.uri, part.mimeType, sized(part.size));
    case 'resource': {
      const { resource } = part;
      if ('text' in resource) return `${told('resource', resource.uri, resource.mimeType)}\n${resource.text}`;
      return told('resource', resource.uri, resource.mimeType, bytesOf(resource.blob));
    }
    default:
      return '[a part of an unknown kind]';
  }
}

function told(kind: string, ...words: readonly (string | undefined)[]): string {
  const known = words.filter((word) => word !== undefined && word !== '');
  return `[${[kind, ...known.map((word = '') => clipped(word, MAX_WORD_CHARS))].join(', ')}]`;
}

/** Of base64. */
function bytesOf(data: string): string {
  return sized(Math.floor((data.replace(/=+$/u, '').length * 3) / 4));
}

function sized(bytes: number): string;
function sized(bytes: number | undefined): string | undefined;
function sized(bytes: number | undefined): string | undefined {
  return bytes === undefined ? undefined : `${bytes} bytes`;
}
