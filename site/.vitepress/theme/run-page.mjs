// From the built package, which the alias of the site resolves.
import { exportedPage } from 'postchain/src/inspection/exported-page';

/** The page with the run that the site was built with. */
export const FIRST_PAGE = '/playground-run.html';

let template;

/** Returns the inspector without a run. */
async function loadTemplate() {
  const response = await fetch(FIRST_PAGE);
  if (!response.ok) throw new Error(`The inspector cannot be loaded: HTTP status ${response.status}. Reload the page.`);
  const html = await response.text();
  return html.replace(/(<script type="application\/json" id="recording")[^<]*<\/script>/u, '$1></script>');
}

/** Returns the address of a page with the run in the inspector, as `exportRun` makes it. Revoke it after use. */
export async function runPage(entries) {
  template ??= loadTemplate();
  const { html } = await exportedPage(await template, entries);
  return URL.createObjectURL(new Blob([html], { type: 'text/html;charset=utf-8' }));
}
