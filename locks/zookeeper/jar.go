package zookeeper

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/locktest/locktest/cluster"
)

// jarEnv names a jar of ZooKeeper's, or the folder into which its release was unpacked.
const jarEnv = "LOCKTEST_ZOOKEEPER"

// Where Debian and Ubuntu put the jars. The first names the others that it needs, but for a logger.
const (
	debianJar    = "/usr/share/java/zookeeper.jar"
	debianLogger = "/usr/share/java/slf4j-simple.jar"
)

// needs says that there is no jar; Java was found already.
func needs() error {
	_, err := classPath()
	if err == nil {
		return nil
	}
	return &cluster.Error{
		Code:    cluster.CodeNoBinary,
		Message: "ZooKeeper's jar was not found",
		Details: []string{err.Error()},
		Fix:     []string{"apt install libzookeeper-java", jarEnv + "=FOLDER, where a release from https://zookeeper.apache.org was unpacked"},
	}
}

// classPath is what java is to load.
func classPath() (string, error) {
	set := os.Getenv(jarEnv)
	if set == "" {
		if _, err := os.Stat(debianJar); err != nil {
			return "", fmt.Errorf("looked in: %s, %s (not set)", debianJar, jarEnv)
		}
		return debianJar + string(os.PathListSeparator) + debianLogger, nil
	}
	info, err := os.Stat(set)
	if err != nil {
		return "", fmt.Errorf("looked in: %s=%s, which isn't there", jarEnv, set)
	}
	if !info.IsDir() {
		return set + string(os.PathListSeparator) + debianLogger, nil
	}
	if found, _ := filepath.Glob(filepath.Join(set, "lib", "zookeeper-[0-9]*.jar")); len(found) == 0 {
		return "", fmt.Errorf("looked in: %s=%s, which has no lib/zookeeper-*.jar", jarEnv, set)
	}
	return filepath.Join(set, "lib", "*") + string(os.PathListSeparator) + filepath.Join(set, "conf"), nil
}

var jarVersion = regexp.MustCompile(`zookeeper-(\d[\w.-]*)\.jar$`)

// version is in the name of a jar beside the one that is used, or in the notes that came with it.
func version(_ context.Context, _ string) (string, error) {
	path, err := classPath()
	if err != nil {
		return "", err
	}
	first := strings.Split(path, string(os.PathListSeparator))[0]
	found, err := filepath.Glob(filepath.Join(filepath.Dir(first), "zookeeper-[0-9]*.jar"))
	if err != nil {
		return "", err
	}
	for _, f := range found {
		if m := jarVersion.FindStringSubmatch(f); m != nil {
			return "ZooKeeper " + m[1], nil
		}
	}
	return "ZooKeeper " + mavenVersion(first), nil
}

// mavenVersion reads the version that was written into a jar when it was made.
func mavenVersion(jar string) string {
	const unknown = "of unknown version"
	z, err := zip.OpenReader(jar)
	if err != nil {
		return unknown
	}
	defer z.Close()
	f, err := z.Open("META-INF/maven/org.apache.zookeeper/zookeeper/pom.properties")
	if err != nil {
		return unknown
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		return unknown
	}
	if m := regexp.MustCompile(`(?m)^version=(\S+)`).FindSubmatch(b); m != nil {
		return string(m[1])
	}
	return unknown
}
