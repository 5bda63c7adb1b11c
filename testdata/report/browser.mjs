// Chromium with a page in it, and what the page complained about or asked the network for.

import puppeteer from 'puppeteer-core';

export async function openBrowser() {
  const root = process.getuid?.() === 0;
  return puppeteer.launch({ executablePath: process.env.GCLOG_BROWSER, args: ['--disable-gpu', ...(root ? ['--no-sandbox'] : [])] });
}

export async function openPage(browser, file, { width = 1280, height = 900, dark = false, scale = 1 } = {}) {
  const page = await browser.newPage();
  const complaints = [];
  page.on('console', (m) => complaints.push(`console: ${m.text()}`));
  page.on('pageerror', (e) => complaints.push(`error: ${e.message}`));
  page.on('dialog', (d) => { complaints.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on('request', (r) => { if (r.url() !== 'file://' + file && !r.url().startsWith('blob:')) complaints.push(`request: ${r.url()}`); });
  await page.setViewport({ width, height, deviceScaleFactor: scale });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
  await page.goto('file://' + file);
  await page.waitForFunction(() => document.documentElement.dataset.ready || !document.getElementById('failure').hidden, { timeout: 60000 });
  return { page, complaints };
}

// settled waits until the page has drawn what was asked of it.
export const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 150)))));
