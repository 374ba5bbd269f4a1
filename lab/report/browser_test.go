package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A window is a size in CSS pixels: a phone's, a tablet's, a desk's.
type window struct{ width, height int64 }

var windows = []window{{360, 640}, {800, 900}, {1400, 900}}

// Real browsers show the page as it is meant: the verdict at once, nothing cut off at the side,
// nothing asked for, every link with an end. LAB_SCREENSHOTS names a folder for pictures of it.
func TestThePageInABrowser(t *testing.T) {
	ctx := openBrowser(t)
	heard := listen(t, ctx)
	for name, c := range map[string]struct {
		run     func(testing.TB) (string, Run)
		windows []window
	}{
		"failed": {recordedRun, windows}, "held": {heldRun, windows[:1]},
	} {
		file := filepath.Join(t.TempDir(), "report.html")
		page := pageOf(t, "testdata/run", second(c.run(t)))
		require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
		for _, w := range c.windows {
			t.Run(fmt.Sprintf("%s_%d", name, w.width), func(t *testing.T) {
				do(t, ctx, chromedp.EmulateViewport(w.width, w.height))
				do(t, ctx, chromedp.Navigate("file://"+file))
				look(t, ctx, name == "failed")
				photograph(t, ctx, fmt.Sprintf("%s_%d", name, w.width))
			})
		}
		heard.nothingBut(t, "file://"+file)
	}
}

// openBrowser starts the browser that is installed, or skips the test.
func openBrowser(t *testing.T) context.Context {
	t.Helper()
	i := slices.IndexFunc(browsers, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
	if i < 0 {
		t.Skip("no browser is installed: none of " + strings.Join(browsers, ", ") + " is in PATH")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browsers[i]))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses root otherwise
	}
	bounded, end := context.WithTimeout(context.Background(), 2*time.Minute)
	allocated, release := chromedp.NewExecAllocator(bounded, options...)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser is gone
		cancel()
		release()
		end()
	})
	return ctx
}

var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, steps...))
}

// ask evaluates an expression in the page.
func ask[T any](t *testing.T, ctx context.Context, script string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	require.NoError(t, err, script)
	return v
}

// look demands what is true of every page at every width.
func look(t *testing.T, ctx context.Context, failed bool) {
	t.Helper()
	open := ask[int](t, ctx, `document.querySelectorAll("details:not([open])").length`)
	require.Positive(t, open)
	for range 2 { // as it comes, and with everything unfolded
		require.LessOrEqual(t, ask[float64](t, ctx, `document.documentElement.scrollWidth`),
			ask[float64](t, ctx, `innerWidth`), "the page is wider than its window")
		require.Empty(t, ask[[]string](t, ctx, wide), "these stick out of the window")
		ask[bool](t, ctx, `(document.querySelectorAll("details").forEach(d => d.open = true), true)`)
	}
	require.Empty(t, ask[[]string](t, ctx, cutOff), "labels of commands that are cut off")
	require.Empty(t, ask[[]string](t, ctx, dead), "links that lead nowhere")
	do(t, ctx, chromedp.Func(reload))
	foot := ask[float64](t, ctx, `document.querySelector(".reason").getBoundingClientRect().bottom`)
	require.Less(t, foot, ask[float64](t, ctx, `innerHeight/2`), "the verdict is not on top")
	require.Equal(t, failed, ask[bool](t, ctx, `!!document.querySelector(".jump a")`))
	if failed {
		require.Zero(t, ask[int](t, ctx, `document.querySelectorAll(".failure:not([open])").length`))
		ask[bool](t, ctx, `(document.querySelector(".jump a").click(), true)`)
		require.Less(t, ask[float64](t, ctx, `Math.abs(document.querySelector(":target").`+
			`getBoundingClientRect().top)`), ask[float64](t, ctx, `innerHeight`))
	}
	unfolds(t, ctx)
	do(t, ctx, chromedp.Func(reload))
}

// wide lists what is laid out beyond the right edge and not inside a frame that scrolls.
const wide = `[...document.querySelectorAll("body *")].filter(e => !e.closest(".frame") &&
	e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))`

// cutOff lists the labels of commands that are broader than the part of their lane to see.
const cutOff = `[...document.querySelectorAll(".timeline a")].flatMap(a => {
	const lane = a.parentNode.width.baseVal.value, text = a.querySelector("text:not(.dim)")
	return text && text.getBBox().x + text.getBBox().width > lane ? [text.textContent] : []
})`

const dead = `[...document.querySelectorAll("a")].map(a => a.getAttribute("href"))
	.filter(h => !document.getElementById(h.slice(1)))`

func reload(ctx context.Context, _ *chromedp.Target) error {
	url, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href.split("#")[0]`))
	if err != nil {
		return err
	}
	return chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(url))
}

// unfolds demands that a fold opens when it is clicked, and when a link leads into it.
func unfolds(t *testing.T, ctx context.Context) {
	t.Helper()
	require.True(t, ask[bool](t, ctx, `(() => {
		const fold = document.querySelector("#scenarios details.play:not([open])")
		fold.querySelector("summary").click()
		return fold.open
	})()`), "a click opens no fold")
	require.True(t, ask[bool](t, ctx, `new Promise(done => {
		const scene = document.querySelector("#scenarios details.play:not([open]) .scene")
		location.hash = scene.id
		requestAnimationFrame(() => done(scene.closest("details").open))
	})`), "a link into a fold doesn't open it")
}

// photograph keeps pictures of the page by day, by night and on paper.
func photograph(t *testing.T, ctx context.Context, name string) {
	dir := os.Getenv("LAB_SCREENSHOTS")
	if dir == "" {
		return
	}
	ask[bool](t, ctx, `(document.querySelectorAll("#matrix details, #scenarios details.play")`+
		`.forEach(d => d.open = true), true)`)
	for _, light := range []string{"light", "dark"} {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: light}},
		})
		require.NoError(t, err)
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		require.NoError(t, err)
		file := filepath.Join(dir, name+"_"+light+".png")
		require.NoError(t, os.WriteFile(file, picture, 0o644))
	}
}

// heard is what the browser asked for and complained of.
type heard struct {
	mu       sync.Mutex
	requests []string
	errors   []string
}

func listen(t *testing.T, ctx context.Context) *heard {
	h := &heard{}
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		h.mu.Lock()
		defer h.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			h.requests = append(h.requests, e.Request.URL)
		case *log.EventEntryAdded:
			h.errors = append(h.errors, e.Entry.Text)
		case *runtime.EventConsoleAPICalled:
			h.errors = append(h.errors, fmt.Sprint("console: ", e.Type))
		case *runtime.EventExceptionThrown:
			h.errors = append(h.errors, e.ExceptionDetails.Text)
		}
	}))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, log.Enable, struct{}{})
	require.NoError(t, err)
	return h
}

// nothingBut demands that the page alone was asked for, and that it was.
func (h *heard) nothingBut(t *testing.T, url string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Contains(t, h.requests, url)
	for _, asked := range h.requests {
		own := asked == url || asked == "about:blank" || strings.HasPrefix(asked, "data:")
		require.True(t, own, "the page asks for %s", asked)
	}
	require.Empty(t, h.errors)
	h.requests = nil
}
