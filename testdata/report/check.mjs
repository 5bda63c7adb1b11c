// Uses a page of gclog report as a person does, with pointer and keyboard:
//   node check.mjs PAGE EXPECTED.json FOLDER
// EXPECTED.json has the numbers of the record; the exports are left in FOLDER. Prints one JSON object
// with figures; fails with a list of what is wrong.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { openBrowser, openPage, settled } from './browser.mjs';

const [file, expectedFile, folder] = process.argv.slice(2);
const expected = JSON.parse(fs.readFileSync(expectedFile, 'utf8'));
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await openBrowser();
const figures = {};
const thorough = expected.rows || expected.types || expected.sides || expected.charts; // of a large page only how long it takes matters

async function accessible(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const list = violations.map((v) => `${where}: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(' … ')}`);
  assert.deepEqual(list, []);
}

const texts = (page, selector) => page.$$eval(selector, (list) => list.map((e) => e.textContent.trim()));
const text = (page, selector) => page.$eval(selector, (e) => e.textContent.trim());
const column = async (page, key) => {
  const heads = await page.$$eval('#gcs thead button', (list) => list.map((b) => b.dataset.key));
  const at = heads.indexOf(key);
  return page.$$eval('#gcs tbody tr', (rows, k) => rows.map((r) => r.children[k].textContent), at);
};
const box = async (page, selector) => {
  await page.$eval(selector, (e) => e.scrollIntoView({ block: 'center', behavior: 'instant' }));
  await settled(page);
  return (await page.$(selector)).boundingBox();
};
const drag = async (page, b, from, to) => {
  const y = b.y + b.height / 2;
  await page.mouse.move(b.x + b.width * from, y);
  await page.mouse.down();
  await page.mouse.move(b.x + b.width * (from + to) / 2, y, { steps: 4 });
  await page.mouse.move(b.x + b.width * to, y, { steps: 4 });
  await page.mouse.up();
  await settled(page);
};

async function history(page) {
  // The numbers of the first screen and of the table.
  assert.deepEqual(await texts(page, '.tile-value'), expected.tiles);
  assert.match(await text(page, '#table .table-tools'), new RegExp(`${expected.collections.toLocaleString('en')} collections`));
  const first = expected.rows.slice(0, 100);
  assert.deepEqual(await column(page, 'number'), first.map((r) => r.number));
  assert.deepEqual(await column(page, 'pause.total'), first.map((r) => r.pause));
  assert.deepEqual(await column(page, 'heap.after'), first.map((r) => r.after));

  // Sorting.
  await page.click('#gcs [data-key="pause.total"]');
  const sorted = (await column(page, 'pause.total')).filter((t) => t !== '–').map(Number);
  const longest = expected.rows.map((r) => r.pause).filter((t) => t !== '–').map(Number).sort((a, b) => b - a).slice(0, 100);
  assert.deepEqual(sorted.slice(0, longest.length), longest);
  assert.equal(await page.$eval('#gcs th:has([data-key="pause.total"])', (e) => e.getAttribute('aria-sort')), 'descending');
  assert.equal(await page.evaluate(() => document.activeElement.dataset.key), 'pause.total');
  await page.click('#gcs [data-key="start"]');

  // Filters: by generation, by a number, by a length.
  const count = async (filter) => {
    await page.$eval('#gc-filter', (e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }, filter);
    await new Promise((done) => setTimeout(done, 250));
    const all = await text(page, '#table .table-tools [aria-live]');
    return Number(all.split(' ')[0].replace(/,/g, ''));
  };
  assert.equal(await count('gen1'), expected.rows.filter((r) => r.generation === 1).length);
  assert.equal(await count(`#${expected.rows[0].number}`), 1);
  assert.equal(await count('pause>1ms'), expected.rows.filter((r) => Number(r.pause) > 1).length);
  assert.equal(await count('no-such-reason'), 0);
  assert.equal(await count(''), expected.collections);

  // Zooming: drag in a chart, in the brush, by keys; all of it is the range of the table too.
  const plot = '[data-chart="pauses"] .u-over';
  const everything = await text(page, '#range-text');
  await drag(page, await box(page, plot), 0.25, 0.6);
  const zoomed = await text(page, '#range-text');
  assert.notEqual(zoomed, everything);
  await page.$eval('#table input[type=checkbox]', (e) => e.click());
  await settled(page);
  const inside = Number((await text(page, '#table .table-tools [aria-live]')).split(' ')[0].replace(/,/g, ''));
  assert.ok(inside < expected.collections && inside > 0, `${inside} rows in the range`);
  await page.click('#range-all');
  assert.equal(await text(page, '#range-text'), everything);
  assert.equal(await count(''), expected.collections);
  await drag(page, await box(page, '#brush'), 0.3, 0.5);
  assert.notEqual(await text(page, '#range-text'), everything);
  await page.focus('#brush');
  await page.keyboard.press('0');
  assert.equal(await text(page, '#range-text'), everything);
  await page.keyboard.press('+');
  assert.notEqual(await text(page, '#range-text'), everything);
  await page.keyboard.press('Escape');

  // Every chart has a picture, or says what is missing.
  for (const name of await page.$$eval('[data-chart]', (list) => list.map((f) => f.dataset.chart))) {
    await box(page, `[data-chart="${name}"]`);
    assert.ok(await page.$(`[data-chart="${name}"] canvas, [data-chart="${name}"] .missing`), `the chart ${name} is empty`);
  }

  // A collection by keyboard: the chart says where one is, Enter explains it.
  await page.focus('[data-chart="heap"] .plot');
  await page.keyboard.press('Home');
  assert.match(await text(page, '#reading'), new RegExp(`#${expected.rows[0].number} `));
  await page.keyboard.press('ArrowRight');
  assert.match(await text(page, '#reading'), new RegExp(`#${expected.rows[1].number} `));
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open] h2');
  assert.match(await text(page, 'dialog h2'), new RegExp(`^Collection ${expected.rows[1].number}:`));
  await accessible(page, 'explanation');
  await page.keyboard.press('Escape');
  assert.equal(await page.$('dialog[open]'), null);

  // A row opens what explain says.
  const worst = expected.explained;
  await count(`#${worst.number}`);
  await page.click('#gcs tbody button');
  await page.waitForSelector('dialog[open] h2');
  assert.ok((await text(page, 'dialog')).includes(worst.sentence), `the explanation of ${worst.number} does not say: ${worst.sentence}`);
  await page.keyboard.press('Escape');
  await count('');

  // A finding leads to its collection.
  if (await page.$('[data-gc]')) {
    const number = await page.$eval('[data-gc]', (e) => e.dataset.gc);
    await page.click('[data-gc]');
    await page.waitForSelector('dialog[open] h2');
    assert.match(await text(page, 'dialog h2'), new RegExp(`^Collection ${number}:`));
    await page.keyboard.press('Escape');
    await page.click('[data-show]');
    await settled(page);
  }

  // Exports.
  const session = await page.createCDPSession();
  await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder, eventsEnabled: true });
  for (const [button, name] of [['#csv', 'collections.csv'], ['#json', 'collections.json']]) {
    const done = new Promise((resolve) => session.on('Browser.downloadProgress', (e) => { if (e.state === 'completed') resolve(); }));
    await page.$eval(button, (e) => e.click());
    await done;
    assert.ok(fs.existsSync(`${folder}/${name}`));
  }
}

// comparison checks that both sides have the same scales, and zoom together.
async function comparison(page) {
  const ticks = async () => {
    const list = [];
    for (let side = 0; side < expected.sides; side++) {
      await box(page, `[data-side="${side}"] [data-chart="pauses"]`);
      list.push(await page.$eval(`[data-side="${side}"] [data-chart="pauses"] canvas`, (c) => c.toDataURL().length > 1000));
    }
    return list;
  };
  assert.deepEqual(await ticks(), [true, true]);
  const everything = await text(page, '#range-text');
  assert.match(everything, /^00:00:00/);
  await drag(page, await box(page, '[data-side="1"] [data-chart="pauses"] .u-over'), 0.2, 0.5);
  assert.notEqual(await text(page, '#range-text'), everything);
}

async function snapshot(page) {
  assert.equal(await text(page, '[data-types] [aria-live]'), `${expected.types} of ${expected.types}`);
  await icicle(page, '[data-snapshot]');
  await page.type('[data-types] input', 'string');
  await settled(page);
  assert.ok((await texts(page, '[data-types] .name')).every((n) => n.toLowerCase().includes('string')));
}

async function icicle(page, section) {
  assert.ok((await page.$$(`${section} .icicle button`)).length > 3);
  const path = await text(page, `${section} .icicle-path`);
  await page.focus(`${section} .icicle button[tabindex="0"]`);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.notEqual(await text(page, `${section} .icicle-path`), path);
  await page.keyboard.press('Escape');
  assert.equal(await text(page, `${section} .icicle-path`), path);
}

// charts looks at what is drawn: colored counts the pixels of a column that are not gray, as the grid is.
async function charts(page) {
  const colored = async (name, at) => {
    await box(page, `[data-chart="${name}"]`);
    return page.evaluate((name, at) => {
      const canvas = document.querySelector(`[data-chart="${name}"] canvas`), copy = document.createElement('canvas'), over = document.querySelector(`[data-chart="${name}"] .u-over`);
      const from = canvas.getBoundingClientRect(), to = over.getBoundingClientRect(), ratio = canvas.width / from.width;
      const x = Math.round((to.left - from.left + at * to.width) * ratio);
      [copy.width, copy.height] = [canvas.width, canvas.height];
      const g = copy.getContext('2d', { willReadFrequently: true });
      g.drawImage(canvas, 0, 0);
      const { data } = g.getImageData(x, (to.top - from.top) * ratio, 1, to.height * ratio);
      let n = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 128 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 40) n++;
      return n;
    }, name, at);
  };
  const { known, unknown, paused, ran } = expected.charts;
  assert.ok(await colored('generations', known) > 50);
  assert.equal(await colored('generations', unknown), 0, 'the sizes of the generations are drawn where they are unknown');
  assert.ok(await colored('pauses', paused) >= 2, 'a long pause is not drawn as long as it was');
  assert.equal(await colored('pauses', ran), 0);
  const pressed = (name, label) => page.$$eval(`[data-chart="${name}"] button`, (list, label) => list.find((b) => b.textContent.trim() === label)?.getAttribute('aria-pressed'), label);
  assert.equal(await pressed('heap', 'cgroup limit'), 'true');
  assert.equal(await pressed('allocation', 'log scale'), 'false');
  assert.equal(await pressed('pauses', 'log scale'), 'true');
}

// withoutScripts checks that a page has its numbers where scripts cannot run.
async function withoutScripts() {
  const page = await browser.newPage();
  await page.setJavaScriptEnabled(false);
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto('file://' + file);
  const empty = await page.$$eval('[data-chart], [data-icicle], [data-types], [data-growth], #table', (list) => list.filter((e) => !e.querySelector('td, .missing')).map((e) => e.outerHTML.slice(0, 80)));
  assert.deepEqual(empty, []);
  await page.close();
}

let heard = [];
try {
  const { page, complaints } = await openPage(browser, file);
  heard = complaints;
  figures.ready_ms = Number(await page.evaluate(() => document.documentElement.dataset.ready));
  if (thorough) await accessible(page, 'light');
  if (expected.rows) await history(page);
  if (expected.types) await snapshot(page);
  if (expected.callers) await icicle(page, '#callers');
  if (expected.sides) await comparison(page);
  if (expected.charts) await charts(page);
  if (expected.limit) assert.ok((await texts(page, '[data-chart="heap"] .legend button')).includes('hard limit'));
  if (thorough) {
    await page.emulateMediaType('print');
    assert.ok((await page.pdf()).length > 10000);
  }
  assert.deepEqual(complaints, []);
  await page.close();

  if (thorough) await withoutScripts();
  for (const view of thorough ? [{ dark: true }, { width: 360, height: 740 }] : []) {
    const { page, complaints } = await openPage(browser, file, view);
    await accessible(page, JSON.stringify(view));
    if (view.width) {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= view.width, `the page is ${width} wide on a phone`);
      const cut = await page.$$eval('nav a', (list, width) => list.filter((a) => a.getBoundingClientRect().right > width || a.getBoundingClientRect().left < 0).map((a) => a.textContent), view.width);
      assert.deepEqual(cut, [], 'links of the navigation are cut off');
    }
    assert.deepEqual(complaints, []);
    await page.close();
  }
  console.log(JSON.stringify(figures));
} catch (e) {
  console.error(heard.join('\n'));
  throw e;
} finally {
  await browser.close();
}
