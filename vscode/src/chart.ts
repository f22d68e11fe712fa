/** The page of the chart: draws what the extension sends. */
import mermaid from 'mermaid';

const picture = document.querySelector('main');
let drawn = 0;

mermaid.initialize({
  startOnLoad: false,
  securityLevel: 'strict',
  theme: document.body.classList.contains('vscode-light') ? 'neutral' : 'dark',
});

window.addEventListener('message', async ({ data }: MessageEvent<{ readonly mermaid?: string }>) => {
  if (picture === null || data.mermaid === undefined) return;
  drawn += 1;
  const number = drawn;
  const { svg } = await mermaid.render(`chart-${number}`, data.mermaid);
  if (number === drawn) picture.innerHTML = svg;
});
