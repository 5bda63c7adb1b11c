// Takes the screenshots of docs/report.md: node shots.mjs GCLOG FOLDER [png]: for looking at them

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openBrowser, openPage, settled } from './browser.mjs';

const [gclog, folder, type = 'webp'] = process.argv.slice(2);
const root = path.resolve(import.meta.dirname, '..', '..');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'gclog-shots-'));
const report = (name, ...inputs) => {
  const file = path.join(work, name + '.html');
  execFileSync(path.resolve(gclog), ['report', ...inputs, '-o', file], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  return file;
};
fs.mkdirSync(folder, { recursive: true });
const browser = await openBrowser();

async function shot(name, file, view, act) {
  const { page } = await openPage(browser, file, view);
  await act?.(page);
  await settled(page);
  await page.screenshot({ path: path.join(folder, name + '.' + type), type, ...(type === 'webp' ? { quality: 72 } : {}) });
  await page.close();
}

const log = report('log', 'testdata/traces/net9-wks-attach.nettrace.gz');
await shot('report', log, { width: 1200, height: 1180 });
await shot('report-collection', log, { width: 1200, height: 860, dark: true }, async (page) => {
  await page.$eval('#collections', (e) => e.scrollIntoView());
  await settled(page);
  await page.click('#gcs tbody tr:nth-child(8) button');
  await page.waitForSelector('dialog[open] h2');
});
const heap = report('heap', 'gclog/heap/testdata/small.gcdump');
await shot('report-heap', heap, { width: 1200, height: 900 });
await browser.close();
fs.rmSync(work, { recursive: true });
