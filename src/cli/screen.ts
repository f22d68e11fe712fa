import pc from 'picocolors';
import type { Screen } from './progress.ts';

const CLEAR_LINE = '\r\u001b[2K';

/** Lines on a stream; on a terminal also a status line, kept to its width: of a long text the newest end. */
export function createScreen(out: NodeJS.WriteStream): Screen & { clear(): void } {
  let showing = false;
  const clear = (): void => {
    if (showing) out.write(CLEAR_LINE);
    showing = false;
  };
  return {
    clear,
    line(text) {
      clear();
      out.write(`${text}\n`);
    },
    status(name, text) {
      if (!out.isTTY) return;
      const room = Math.max(0, (out.columns || 80) - name.length - 2);
      const shown = text.length <= room ? text : `…${text.slice(text.length - room + 1)}`;
      out.write(`${CLEAR_LINE}${pc.cyan(name)} ${pc.dim(shown)}`);
      showing = true;
    },
  };
}
