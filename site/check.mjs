// Checks the site as it was made: each link, its anchor, each picture; and that the search of the Javadoc finds the names of C.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'

const root = process.env.RDMA4J_ROOT
const dist = join(process.env.RDMA4J_SITE, 'dist')
const base = process.env.RDMA4J_SITE_BASE ?? '/'
const html = (directory = '') => readdirSync(join(dist, directory), { withFileTypes: true }).flatMap(entry => {
    const path = posix.join(directory, entry.name)
    return entry.isDirectory() ? path === 'api' ? [] : html(path) : path.endsWith('.html') ? [path] : []
})

const anchors = new Map()
function ids(file) {
    if (!anchors.has(file)) {
        anchors.set(file, new Set([...readFileSync(join(dist, file), 'utf8').matchAll(/\sid="([^"]*)"/g)].map(each => each[1])))
    }
    return anchors.get(file)
}

const wrong = []
let links = 0
const pages = html()
for (const page of pages) {
    for (const [, target] of readFileSync(join(dist, page), 'utf8').matchAll(/\s(?:href|src)="([^"]*)"/g)) {
        if (/^[a-z]+:/.test(target)) continue
        links++
        const [path, anchor] = target.replaceAll('&amp;', '&').split('#')
        let file = path === '' ? page : path.startsWith('/') ? path.slice(base.length) : posix.join(posix.dirname(page), path)
        file = decodeURIComponent(file)
        if (file === '' || file.endsWith('/')) file += 'index.html'
        if (!existsSync(join(dist, file)) && existsSync(join(dist, `${file}.html`))) file += '.html'
        if (!existsSync(join(dist, file)) || statSync(join(dist, file)).isDirectory()) wrong.push(`${page}: nothing is at ${target}`)
        else if (anchor && file.endsWith('.html') && !ids(file).has(decodeURIComponent(anchor))) wrong.push(`${page}: no anchor ${target}`)
    }
}

const index = readFileSync(join(dist, 'api/tag-search-index.js'), 'utf8')
const names = [...readFileSync(join(root, 'docs/reference/names-of-c.md'), 'utf8').matchAll(/^\| `(\w+)` \| (?!none)/gm)].map(each => each[1])
for (const name of names) if (!index.includes(`"l":"${name}"`)) wrong.push(`the search of the Javadoc does not find ${name}`)

for (const each of new Set(wrong)) console.error(`site: ${each}`)
console.log(`${pages.length} pages, ${links} links, ${names.length} names of C in the Javadoc's search, ${new Set(wrong).size} wrong`)
process.exit(wrong.length || pages.length < 50 || names.length < 700 ? 1 : 0)
